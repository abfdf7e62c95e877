"""Bullets against boxes between two poses: cases, and the depth of a bullet in the box, with at least 64 mantissa bits.

The oracle shares no formula with the kernel: it evaluates the matrix of the interpolated quaternion at every given
moment.
"""

from typing import NamedTuple

import numpy as np
from support.cases.frames import matrices

import cylcollide as cc
from cylcollide.moving.box import end_of_box_contact, first_box_contact, relative_flight
from cylcollide.query.loops.moving_exit import BOX_BOUNDS, bound_box
from cylcollide.query.loops.moving_pair import box_path
from cylcollide.query.loops.moving_rows import ALPHA0, ALPHA1, END, HALF, INTERVAL_ROW, PATH_ROW, START, vector

Array = np.ndarray


class Cases(NamedTuple):
    """Arrays with one row per case."""

    start: Array  # (n, 3)
    end: Array
    alpha: Array  # (n, 2): at start and end
    here: Array  # (n, 3): as in `BoxPath`
    there: Array
    turn_here: Array  # (n, 4)
    turn_there: Array
    centre: Array  # (n, 3)
    axes: Array  # (n, 9)
    half: Array  # (n, 3)

    def take(self, rows) -> "Cases":
        return Cases(*(column[rows] for column in self))


def rows_of(cases: Cases) -> tuple[Array, Array]:
    """The cases as rows of `IntervalRows.rows` and of `MovingRows.paths`."""
    intervals, paths = np.zeros((len(cases.start), INTERVAL_ROW)), np.zeros((len(cases.start), PATH_ROW))
    intervals[:, START : START + 3], intervals[:, END : END + 3] = cases.start, cases.end
    intervals[:, ALPHA0], intervals[:, ALPHA1] = cases.alpha.T
    paths[:, : HALF + 3] = np.hstack(cases[3:])
    return intervals, paths


@np.errstate(all="ignore")
def contacts(cases: Cases, resolution: float) -> Array:
    """Rows (n, 11): possible, certain, lower, upper, inside, face of the contact; these but inside of its end."""
    rows = np.full((len(cases.start), 11), np.nan)
    for row, interval, path in zip(rows, *(part.tolist() for part in rows_of(cases)), strict=True):
        start, end = vector(interval, START), vector(interval, END)
        flight = relative_flight(start, end, interval[ALPHA0], interval[ALPHA1], box_path(path))
        row[:6] = found = first_box_contact(flight, resolution)
        if found.certain:
            *gone, _, face = end_of_box_contact(flight, found.upper, resolution)
            row[6:] = *gone, face
    return rows


def compiled_contacts(cases: Cases, resolution: float) -> Array:
    """As `contacts`, by the loop that is built: columns 0 to 3 and 6 to 9; the others are nan."""
    rows, bounds = np.full((len(cases.start), 11), np.nan), np.empty(BOX_BOUNDS)
    for row, interval, path in zip(rows, *rows_of(cases), strict=True):
        bound_box(interval, path, resolution, bounds)
        row[:4] = bounds[:4]
        if bounds[1]:
            row[6:10] = bounds[6] < np.inf, *bounds[5:8]
    return rows


def poses(cases: Cases, alpha: Array) -> tuple[Array, Array]:
    """Positions (n, m, 3) and matrices (n, m, 3, 3) of the bones at moments (n, m)."""
    here, there, p, q = (column[:, None].astype(np.longdouble) for column in cases[3:7])
    p, q = (turn / np.sqrt((turn * turn).sum(-1))[..., None] for turn in (p, q))
    q = np.where((p * q).sum(-1)[..., None] < 0, -q, q)
    a = alpha[..., None].astype(np.longdouble)
    return (1 - a) * here + a * there, matrices((1 - a) * p + a * q)


def coordinates(cases: Cases, u: Array) -> Array:
    """Coordinates (n, m, 3) of the bullets at u (n, m), along their boxes' axes, from the centres."""
    u = u.astype(np.longdouble)
    first, last = cases.alpha.T.astype(np.longdouble)
    position, matrix = poses(cases, first[:, None] + u * (last - first)[:, None])
    start, end = cases.start.astype(np.longdouble)[:, None], cases.end.astype(np.longdouble)[:, None]
    x = start + u[..., None] * (end - start) - position
    local = np.einsum("nmji,nmj->nmi", matrix, x) - cases.centre[:, None]
    return np.einsum("nij,nmj->nmi", cases.axes.reshape(-1, 3, 3).astype(np.longdouble), local)


def depth(cases: Cases, u: Array) -> Array:
    """Depth of each bullet in its box at u (n, m), in metres; negative outside."""
    return (cases.half[:, None] - np.abs(coordinates(cases, u))).min(-1)


def deepest(cases: Cases, begin: Array, end: Array, samples: int, rounds: int = 4) -> Array:
    """The largest depth (n,) between two moments, by samples that are refined around the deepest."""
    first, last = begin.copy(), end.copy()
    best = np.full(len(begin), -np.inf, np.longdouble)
    for _ in range(rounds):
        u = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, samples)
        found = depth(cases, u)
        best = np.maximum(best, found.max(-1))
        middle = np.take_along_axis(u, found.argmax(-1)[:, None], -1)[:, 0]
        width = (last - first) / (samples - 1)
        first, last = np.maximum(begin, middle - width), np.minimum(end, middle + width)
    return best


def cases_of(n: int, seed: int, aim: str, most_turn: float = np.pi) -> Cases:
    """Bullets that fly near a moving box.

    `aim`: "near": at points in and about the box; "surface": at points on its surface, or 10⁻¹⁶ to 10⁻¹ (relative) off.
    Boxes have various speeds and rates of turn, quaternions of bones any length; flights cover a whole tick or a part,
    and in one of 12 cases time stands still.
    """
    rng = np.random.default_rng(seed)
    here = rng.normal(size=(n, 3)) * 3.0
    there = here + rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-3, 0, (n, 1))
    axis, angle = rng.normal(size=(n, 3)), rng.uniform(0, most_turn, (n, 1)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    turn = np.hstack([axis * np.sin(angle / 2), np.cos(angle / 2)])
    p = rng.normal(size=(n, 4))
    q = cc.quaternions.multiply(turn, p) * rng.choice([-1.0, 1.0], (n, 1)) * 10.0 ** rng.uniform(-9, 9, (n, 1))
    alpha = np.sort(rng.random((n, 2)), axis=1)
    alpha[: n // 4] = 0.0, 1.0
    alpha[n // 4 : n // 3, 1] = alpha[n // 4 : n // 3, 0]
    axes = np.ascontiguousarray(matrices(rng.normal(size=(n, 4)))).reshape(n, 9)
    half = 10.0 ** rng.uniform(-2, 0, (n, 3))
    cases = Cases(here, here, alpha, here, there, p, q, rng.normal(size=(n, 3)) * 0.3, axes, half)
    # a point of the box at some moment, and a bullet that is there at this moment
    t = rng.uniform(-1.3, 1.3, (n, 3))
    if aim == "surface":
        t = np.clip(t, -1.0, 1.0)
        face = rng.integers(0, 3, n)
        beside = rng.choice([-1.0, 0.0, 1.0], n) * 10.0 ** rng.uniform(-16, -1, n)
        t[np.arange(n), face] = rng.choice([-1.0, 1.0], n) * (1.0 + beside)
    u = rng.random((n, 1))
    position, matrix = poses(cases, alpha[:, :1] + u * (alpha[:, 1:] - alpha[:, :1]))
    local = cases.centre + np.einsum("nji,nj->ni", axes.reshape(n, 3, 3), t * half)
    place = (position[:, 0] + np.einsum("nij,nj->ni", matrix[:, 0], local)).astype(float)
    travel = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1.5, 1.5, (n, 1))
    return cases._replace(start=place - u * travel, end=place + (1.0 - u) * travel)
