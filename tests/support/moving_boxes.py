"""Bullets against boxes between two poses: cases, and the depth of a bullet in the box, with at least 64 mantissa bits.

The oracle shares no formula with the kernel: it evaluates the matrix of the interpolated quaternion at every given
moment.
"""

from typing import NamedTuple

import numpy as np
from support.cases.frames import matrices

import cylcollide as cc
from cylcollide.kernels.ray import as_vector
from cylcollide.moving.box import BoxPath, end_of_box_contact, first_box_contact, relative_flight

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


def contacts(cases: Cases, resolution: float, result: Array) -> None:
    """Write (n, 11): possible, certain, lower, upper, inside, face of the contact; these but inside of its end."""
    for i in range(len(result)):
        axes = cases.axes[i]
        path = BoxPath(
            as_vector(cases.here, i),
            as_vector(cases.there, i),
            (cases.turn_here[i, 0], cases.turn_here[i, 1], cases.turn_here[i, 2], cases.turn_here[i, 3]),
            (cases.turn_there[i, 0], cases.turn_there[i, 1], cases.turn_there[i, 2], cases.turn_there[i, 3]),
            as_vector(cases.centre, i),
            ((axes[0], axes[1], axes[2]), (axes[3], axes[4], axes[5]), (axes[6], axes[7], axes[8])),
            as_vector(cases.half, i),
        )
        flight = relative_flight(
            as_vector(cases.start, i), as_vector(cases.end, i), cases.alpha[i, 0], cases.alpha[i, 1], path
        )
        found = first_box_contact(flight, resolution)
        result[i, 0], result[i, 1], result[i, 2] = found.possible, found.certain, found.lower
        result[i, 3], result[i, 4], result[i, 5] = found.upper, found.inside, found.face
        if found.certain:
            gone = end_of_box_contact(flight, found.upper, resolution)
            result[i, 6], result[i, 7], result[i, 8] = gone.possible, gone.certain, gone.lower
            result[i, 9], result[i, 10] = gone.upper, gone.face


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
