"""Adversarial queries of distances, thick rays, overlaps, blades and doubt, and their judgement.

Truths share no formula with the kernels. Signs and values: 90 decimal digits (`oracle/nearest.py`). Thick rays and
capsules against spheres, capsules, cylinders, tubes and boxes: rational arithmetic and algebraic numbers (`exact/`).
Other verdicts: the distance of one point shows that a limb is within reach, a separating plane shows that it is not,
with the same digits; cases that neither decides are not counted. Contacts of blades are known by construction.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np
from support.cases.near_points import any_limb, near_points
from support.oracle.nearest import PRECISE, dot, profile_of, signed_distance, subtract, vector
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb

LAYERS = 32
POINTS = ("anywhere", "on the axis", "at the axis", "in a cap's plane", "on the wall", "on a rim", "far away")
UNITS = {"": 1.0, "huge": 2.0**45, "tiny": 2.0**-35, "far from the origin": 1.0}
EQUAL, WIDTH, SLACK = Decimal(10) ** -60, 2.0**-40, 2.0**-44
"""Relative to the size: equality in 90 digits, range in which overlaps may be undecided, error of float64 input."""
BALLS = (cc.Shape.SPHERE, cc.Shape.CAPSULE, cc.Shape.BOX)


class Case(NamedTuple):
    """A judged query."""

    family: str
    wrong: bool
    undecided: bool
    worst: float  # error in ulp, or the undecided margin in `WIDTH`


class Group(NamedTuple):
    """Limbs of one shape, each in its own layer, and a world of these limbs."""

    limbs: cc.Limbs
    world: cc.HitWorld
    mask: np.ndarray
    unit: str
    scale: float
    rng: np.random.Generator


def group(shape: str, rng: np.random.Generator) -> Group:
    """Return random limbs of a shape, all in one unit."""
    unit = list(UNITS)[rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    scale, far = UNITS[unit], 1e6 if unit.startswith("far") else 1.0
    limbs = cc.Limbs.concat([any_limb(shape, rng, far, scale) for _ in range(LAYERS)])
    mask = (1 << np.arange(LAYERS)).astype(np.uint32)
    layered = cc.Limbs(limbs._table._replace(mask=mask), limbs.hit_group, limbs.names)
    return Group(layered, cc.HitWorld(layered), mask, unit, scale, rng)


def size_of(*arrays: np.ndarray) -> np.ndarray:
    """Return the largest coordinate of each row."""
    return np.max([np.abs(a).max(axis=-1) for a in arrays], axis=0)


# Exact values ---------------------------------------------------------------------------------------------------------


def support(limbs: cc.Limbs, i: int, n: tuple[Decimal, ...]) -> Decimal:
    """Return the limb's support function at n: the maximum of n·x; a box's axes count as orthonormal."""
    p1, p2 = vector(limbs.p1[i]), vector(limbs.p2[i])
    r1, r2 = Decimal(limbs.radius.item(i)), Decimal(limbs.radius2.item(i))
    kind = limbs.kind[i]
    if kind == cc.Shape.BOX:
        along = [abs(dot(n, vector(axis))) for axis in limbs.box_axes[i]]
        return dot(n, p1) + dot(tuple(along), vector(limbs.half_extents[i]))
    axis, square = subtract(p2, p1), dot(n, n)
    along, long = dot(n, axis), dot(axis, axis)
    if long == 0:
        return dot(n, p1) + r1 * square.sqrt()
    across, length = max(square - along * along / long, Decimal(0)), long.sqrt()
    if kind == cc.Shape.ELLIPSOID:
        return (dot(n, p1) + dot(n, p2)) / 2 + (along * along / 4 + r1 * r1 * across).sqrt()
    corners, ball = profile_of(kind, length, r1, r2)
    reach: Decimal = max(z * along / length + rho * across.sqrt() for z, rho in corners) + ball * square.sqrt()
    return dot(n, p1) + reach


def height(limbs: cc.Limbs, i: int, n: np.ndarray, *points: np.ndarray) -> Decimal:
    """Return the least height of points over the limb's supporting plane with normal n: a lower bound of distances."""
    with localcontext(PRECISE):
        m = vector(n)
        return (min(dot(m, vector(p)) for p in points) - support(limbs, i, m)) / dot(m, m).sqrt()


# Queries --------------------------------------------------------------------------------------------------------------


def closest(g: Group) -> Iterator[Case]:
    """Judge sign, distance and nearest place."""
    points = np.stack([near_points(g.limbs[i : i + 1], g.rng, 1) for i in range(LAYERS)])
    for k, feature in enumerate(POINTS):
        found = g.world.closest_points(points[:, k], mask=g.mask)
        size = size_of(points[:, k], found.position, g.limbs.p1, g.limbs.p2)
        for i in range(LAYERS):
            ulp, got = Decimal(np.spacing(size.item(i))), Decimal(found.distance.item(i))
            true = signed_distance(g.limbs, i, points[i, k])
            off = abs(signed_distance(g.limbs, i, found.position[i]))
            with localcontext(PRECISE):
                way = subtract(vector(points[i, k]), vector(found.position[i]))
                errors = abs(got - true), off, abs(dot(way, way).sqrt() - abs(true))
                zero = abs(true) < EQUAL * Decimal(size.item(i))
                sign = got == 0 if zero else (got > 0) == (true > 0) and got != 0
                worst = float(max(errors) / ulp)
            wrong = not sign or worst > 4.0 or found.limb[i] != i
            yield Case(g.unit or feature, wrong, False, worst)


def spheres(g: Group) -> Iterator[Case]:
    """Judge balls whose radius equals the distance, or nearly."""
    points = np.stack([near_points(g.limbs[i : i + 1], g.rng, 1) for i in range(LAYERS)])
    for k, feature in enumerate(POINTS):
        true = [signed_distance(g.limbs, i, points[i, k]) for i in range(LAYERS)]
        near = np.maximum([float(d) for d in true], 0.0)
        step = g.rng.choice([-1.0, 0.0, 1.0], LAYERS) * 10.0 ** -g.rng.integers(0, 18, LAYERS).astype(float)
        radii = np.where(g.rng.random(LAYERS) < 0.5, np.nextafter(near, near + step * g.scale), near * (1.0 + step))
        radii = np.where(radii < 2.0**-400, 0.0, radii)
        found = g.world.overlap_spheres(points[:, k], radii, mask=g.mask)
        for i in range(LAYERS):
            equal = EQUAL * Decimal(max(np.abs(points[i, k]).max(), np.abs(g.limbs.p1[i]).max()))
            want = true[i] - Decimal(radii.item(i)) <= equal
            yield Case(g.unit or feature, found[i].limb.tolist() != ([i] if want else []), False, 0.0)


class Graze(NamedTuple):
    """Segments that pass limbs at about `radius` from a place, perpendicular to the outward normal there."""

    start: np.ndarray
    end: np.ndarray
    place: np.ndarray  # point of each limb that is nearest to `centre`
    centre: np.ndarray  # point of each segment
    outward: np.ndarray
    radius: np.ndarray
    family: list[str]


def graze(g: Group) -> Graze:
    """Return a segment next to each limb."""
    rng, middle = g.rng, 0.5 * (g.limbs.p1 + g.limbs.p2)
    near = g.world.closest_points(middle + g.scale * rng.normal(size=(LAYERS, 3)) * 2.0, mask=g.mask)
    out, radius = near.normal, g.scale * rng.choice([1e-6, 0.01, 0.1, 1.0], LAYERS)
    power = rng.integers(1, 18, LAYERS)
    beyond = 1.0 + rng.choice([-1.0, 0.0, 1.0], LAYERS) * 10.0**-power
    centre, axis = near.position + out * (radius * beyond)[:, None], g.limbs.p2 - g.limbs.p1
    by_axis = (rng.random(LAYERS) < 0.25) & axis.any(axis=1)
    heading = np.where(by_axis[:, None], axis / g.scale, rng.normal(size=(LAYERS, 3)))
    level = np.cross(out, np.cross(heading, out))
    flat = np.linalg.norm(level, axis=1) < 1e-3
    level[flat] = np.cross(out[flat], np.cross(rng.normal(size=(flat.sum(), 3)), out[flat]))
    level /= np.linalg.norm(level, axis=1, keepdims=True)
    names = {True: "along the axis", False: "any way"}
    depths = np.where(power < 9, "", ", tangent")
    family = [g.unit or names[bool(a)] + d for a, d in zip(by_axis, depths, strict=True)]
    before, behind = g.scale * rng.uniform(0.1, 2.0, (2, LAYERS, 1))
    ends = centre - before * level, centre + behind * level
    return Graze(*ends, near.position, centre, out, radius, family)


def within_radius(g: Group, a: Graze, i: int) -> tuple[bool | None, float]:
    """Return whether a segment comes within its radius (None if not shown), and the margin relative to the size."""
    radius, size = Decimal(a.radius.item(i)), float(size_of(a.start[i], a.end[i], g.limbs.p1[i], g.limbs.p2[i]))
    slack = Decimal(size * SLACK) if g.limbs.kind[i] == cc.Shape.BOX else Decimal(0)
    below = radius - signed_distance(g.limbs, i, a.centre[i])
    if below > slack:
        return True, float(below) / size
    above = height(g.limbs, i, a.outward[i], a.start[i], a.end[i]) - radius
    return (False, float(above) / size) if above > slack else (None, 0.0)


def thick(g: Group) -> Iterator[Case]:
    """Judge verdict, face and first contact of thick rays, and where those that start in contact leave the limb."""
    a = graze(g)
    hits, leaves = (
        g.world.cast_segments(a.start, a.end, radius=a.radius, inside=inside, mask=g.mask) for inside in ("hit", "exit")
    )
    size, length = size_of(a.start, a.end) + a.radius, np.linalg.norm(a.end - a.start, axis=1)
    for i in range(LAYERS):
        if SHAPE_ROWS[g.limbs.kind[i]].is_bounded:
            want, _ = within_radius(g, a, i)
            wrong = want is not None and hits.hit[i] != want
            if hits.hit[i]:
                centre = a.start[i] + hits.fraction[i] * (a.end[i] - a.start[i])
                beyond = float(signed_distance(g.limbs, i, centre)) - a.radius[i]
                early = beyond > 1e-9 * (size[i] + size_of(g.limbs.p1[i]))
                wrong |= early or (hits.face[i] != cc.Face.INSIDE and beyond < -8.0 * np.spacing(size[i]))
            if want is not None:
                yield Case(a.family[i], bool(wrong and not hits.undecided[i]), bool(hits.undecided[i]), 0.0)
            continue
        chords, ulp = exact_chords(g, a, i), 0.0
        wrong = hits.hit[i] != (len(chords) > 0) or hits.undecided[i]
        if chords and not wrong:
            wrong, times = hits.face[i] != chords[0].entry_face, [(hits, chords[0].entry)]
            if chords[0].started_inside and chords[0].exit_face != cc.Face.INSIDE:
                times.append((leaves, chords[0].exit))
            wrong |= chords[0].started_inside and leaves.hit[i] != (chords[0].exit_face != cc.Face.INSIDE)
            off = max(abs(found.fraction[i] - float(time.double_double()[0])) for found, time in times)
            ulp = off * length[i] / np.spacing(size[i])
        yield Case(a.family[i], bool(wrong or ulp > 4.0), False, ulp)


def exact_chords(g: Group, a: Graze, i: int) -> list:
    """Return the chords of the grown limb, in algebraic numbers."""
    return list(
        limb_chords(segment_numbers(a.start[i], a.end[i]), grown_by(exact_limb(g.limbs._table, i), a.radius.item(i)))
    )


def capsules(g: Group) -> Iterator[Case]:
    """Judge capsules that touch limbs, or nearly."""
    a = graze(g)
    found = g.world.overlap_capsules(a.start, a.end, a.radius, mask=g.mask)
    for i in range(LAYERS):
        is_exact, is_open = not SHAPE_ROWS[g.limbs.kind[i]].is_bounded, bool(found[i].undecided.any())
        want, margin = (len(exact_chords(g, a, i)) > 0, 0.0) if is_exact else within_radius(g, a, i)
        if want is not None:
            wrong = is_exact if is_open else (len(found[i]) > 0) != want
            yield Case(a.family[i], bool(wrong), is_open, margin / WIDTH if is_open else 0.0)


def boxes(g: Group) -> Iterator[Case]:
    """Judge boxes whose lowest corner, edge or face is next to a limb."""
    a, rng = graze(g), g.rng
    half, turn = g.scale * 10.0 ** rng.uniform(-2, 0.5, (LAYERS, 3)), rng.normal(size=(LAYERS, 4))
    place = a.place
    feature = rng.integers(0, 3, LAYERS)  # number of its axes perpendicular to the normal
    for i in np.flatnonzero(feature > 0).tolist():
        x = a.outward[i] if feature[i] == 2 else np.cross(a.outward[i], rng.normal(size=3))  # a face, or an edge
        x, y = x / np.linalg.norm(x), np.cross(x, rng.normal(size=3))
        y /= np.linalg.norm(y)
        turn[i] = cc.quaternions.from_matrix(np.column_stack([x, y, np.cross(x, y)])[None])[0]
    axes = cc.Limbs.boxes(place, turn, half).box_axes
    low = np.einsum("nij,nj->ni", axes, a.outward)
    lowest = np.einsum("nij,ni->nj", axes, np.where(np.abs(low) < 1e-9, 0.0, -np.sign(low)) * half)
    gap = g.scale * rng.choice([-1.0, 1.0], LAYERS) * 10.0 ** -rng.integers(1, 15, LAYERS).astype(float)
    centre = place + a.outward * gap[:, None] - lowest
    found, solids = g.world.overlap_boxes(centre, turn, half, mask=g.mask), cc.Limbs.boxes(centre, turn, half)
    for i in range(LAYERS):
        size = float(size_of(centre[i] - g.limbs.p1[i], centre[i] - g.limbs.p2[i])) + g.limbs.radius[i]
        size += half[i].sum() + g.limbs.half_extents[i].sum()
        inside = max(-signed_distance(g.limbs, i, centre[i] + lowest[i]), -signed_distance(solids, i, place[i]))
        n = vector(a.outward[i])
        with localcontext(PRECISE):
            apart = -support(solids, i, tuple(-x for x in n)) - support(g.limbs, i, n)
        margin, is_open = float(max(inside, apart)) / size, bool(found[i].undecided.any())
        far = float(size_of(centre[i], g.limbs.p1[i]))
        if margin * size > SLACK * (size + far):
            wrong = g.limbs.kind[i] in BALLS if is_open else (len(found[i]) > 0) != (inside > apart)
            family = g.unit or ("corner", "edge", "face")[feature[i]]
            yield Case(family, bool(wrong), is_open, margin / WIDTH if is_open else 0.0)


def sweeps(g: Group) -> Iterator[Case]:
    """Judge blades, parallel to a limb's supporting plane, that come down on the limb or pass it."""
    a, rng, resolution = graze(g), g.rng, 2.0**-10
    comes = rng.random(LAYERS) < 0.6
    time, speed = rng.uniform(0.05, 0.95, LAYERS), np.where(comes, g.scale * 10.0 ** rng.uniform(-1, 0.5, LAYERS), 0.0)
    side = g.scale * rng.normal(size=(LAYERS, 3))
    way = np.cross(a.outward, np.cross(side, a.outward)) * (~comes)[:, None] - a.outward * speed[:, None]
    p, q = a.start - way * time[:, None], a.end - way * time[:, None]
    ends = p, q, p + way, q + way
    found = g.world.sweep_capsules(*ends, a.radius, resolution=resolution, mask=g.mask)
    for i in range(LAYERS):
        size = float(size_of(*(x[i] for x in ends), g.limbs.p1[i]))
        reach, n = float(a.radius[i]), a.outward[i]
        free = [float(height(g.limbs, i, n, x[i], y[i])) - reach for x, y in ((p, q), ends[2:])]
        touch = float(signed_distance(g.limbs, i, a.centre[i])) - reach
        slack, is_open = SLACK * size, bool(found.undecided[i])
        if comes[i]:
            first, error = time[i] + touch / speed[i], slack / speed[i]  # the blade comes down at this speed
            hidden = float(height(g.limbs, i, n, a.place[i])) < -slack  # in a bore
            if hidden or free[0] <= slack or first > 1.0 - error:
                continue
            since = found.fraction[i] - first
            wrong = not is_open and not (found.hit[i] and -error <= since <= resolution + error)
            yield Case(g.unit or "comes down", bool(wrong), is_open, 0.0)
        elif touch < -slack or min(free) > slack:
            yield Case(g.unit or "passes", bool(not is_open and found.hit[i] != (touch < -slack)), is_open, 0.0)


def doubts(g: Group) -> Iterator[Case]:
    """Judge promises: EXCLUDED limbs are not within reach, CERTAIN limbs cannot be moved out of the way."""
    a, rng = graze(g), g.rng
    kinds = rng.integers(0, 3, LAYERS)
    shift = np.where(kinds == 0, 0.0, np.where(kinds == 1, -1.5, -2.0 - 10.0 ** rng.uniform(-3, 1, LAYERS))) * a.radius
    by = a.outward * shift[:, None]
    start, end, centre = a.start + by, a.end + by, a.centre + by
    found = g.world.doubt_segments(start, end, a.radius, mask=g.mask)
    for i in range(LAYERS):
        size, verdict = float(size_of(start[i], end[i], g.limbs.p1[i])), found.verdict[i]
        radius, wrong = float(a.radius[i]), False
        if verdict == cc.Doubt.EXCLUDED:
            wrong = float(signed_distance(g.limbs, i, centre[i])) < radius - SLACK * size
        elif verdict == cc.Doubt.CERTAIN:
            along = end[i] - start[i]
            for n in (a.outward[i], along, -along, *rng.normal(size=(3, 3))):
                wrong |= float(height(g.limbs, i, n, start[i], end[i])) > SLACK * size - radius
        elif kinds[i] == 0:  # outside, by more than any tolerance
            wrong = float(height(g.limbs, i, a.outward[i], start[i], end[i])) > radius + 1e-3 * size
        yield Case(g.unit or ("outside", "shallow", "deep")[kinds[i]], bool(wrong), verdict == cc.Doubt.DEPENDS, 0.0)


QUERIES: dict[str, Callable[[Group], Iterator[Case]]] = {
    "closest_points": closest, "overlap_spheres": spheres, "overlap_capsules": capsules, "overlap_boxes": boxes,
    "thick casts": thick, "sweep_capsules": sweeps, "doubt_segments": doubts,
}  # fmt: skip
