"""Judges `cast_moving` on thousands of bullets against a few limbs, most of them nearly degenerate.

Each chunk has its own history (`support.moving_scenes`). The compiled oracle confirms hits and misses
(`support.oracle.compiled.moving`); Sturm chains decide the rows that it leaves open (`support.oracle.moving`).
"""

from fractions import Fraction

import numpy as np
from support.moving_scenes import Array, Bullets, Scene, bullets_of, scene_of
from support.oracle import moving as sturm
from support.oracle.compiled.moving import CONFIRMED, certain_misses, judge_bullets
from support.oracle.moving_bullets import triple
from support.soak.tally import Part, merge

from cylcollide._types import Face, Shape
from cylcollide.exact.moving import Motion, tick_interval
from cylcollide.history.moving.hits import MovingHits

FACES = (Face.SIDE, Face.CAP1, Face.CAP2, Face.BORE, Face.INSIDE, Face.NONE)
FEW = 100
"""Bullets of a query so small that the trees are traversed bullet by bullet."""

U = 2.0**-53
WIDTH = 2.0 * U
"""A fraction is within 2 u of the real one, an alpha within 4 u."""


def judge_rows(scene: Scene, bullets: Bullets, hits: MovingHits) -> tuple[Array, list[tuple[int, str]]]:
    """The rows that Sturm chains decided, and the wrong rows with their errors."""
    n = len(hits)
    tick = np.where(hits.hit, hits.tick - scene.history.ticks[0], 0)
    s = np.where(hits.hit, hits.fraction, 0.0)
    claims, verdicts = np.column_stack([s, hits.limb, tick, hits.face]).astype(float), np.zeros(n, np.int64)
    judge_bullets(
        scene.kind, scene.radii, scene.ends, scene.times, bullets.points, bullets.target, claims, WIDTH, verdicts
    )
    wrong = [(i, "alpha") for i in np.flatnonzero(~alpha_is_right(scene, bullets, hits, tick, s))]
    left = np.flatnonzero((verdicts != CONFIRMED) | hits.undecided)
    for i in left.tolist():
        what = wrong_by_rationals(scene, bullets, hits, i)
        if what:
            wrong.append((i, what))
    return left, wrong


def alpha_is_right(scene: Scene, bullets: Bullets, hits: MovingHits, tick: Array, s: Array) -> Array:
    """Whether alpha agrees with the fraction, up to roundings of both."""
    times, target = scene.times.astype(np.longdouble), bullets.target.astype(np.longdouble)
    following = np.minimum(tick + 1, len(times) - 1)
    step, span = np.where(following > tick, times[following] - times[tick], 1), target[:, 1] - target[:, 0]
    alpha = (target[:, 0] + s * span - times[tick]) / step
    return ~hits.hit | (np.abs(hits.alpha - alpha) <= 4 * U + WIDTH * span / step) & (hits.alpha >= 0) & (
        hits.alpha <= 1
    )


def wrong_by_rationals(scene: Scene, bullets: Bullets, hits: MovingHits, i: int) -> str:
    """The error of a row by rational arithmetic, "" if it is right."""
    found = first_by_rationals(scene, bullets.points[i], *bullets.target[i].tolist())
    if found is None or not hits.hit[i]:
        return "" if (found is None) != bool(hits.hit[i]) else f"hit: {found is not None} expected"
    tick, limb, run, interval = found
    s = run.entry.rounded(Fraction(0), Fraction(1))
    alpha = run.entry.rounded(interval.alpha0, interval.alpha1)
    got = hits.tick[i] - scene.history.ticks[0], hits.limb[i], hits.face[i]
    want = tick, limb, run.face
    if tuple(map(int, got)) != tuple(map(int, want)):
        return f"tick, limb, face: {want} expected, got {got}"
    near = abs(hits.fraction[i] - s) <= WIDTH and abs(hits.alpha[i] - alpha) <= 4 * U
    return "" if near else f"fraction, alpha: {(s, alpha)} expected, got {(hits.fraction[i], hits.alpha[i])}"


def first_by_rationals(scene: Scene, points: Array, begin: float, end: float):
    """Tick, limb, run and interval of the first contact by Sturm chains; None for a miss."""
    missed = np.zeros((len(scene.times), len(scene.kind)), np.bool_)
    target = np.array([begin, end])
    certain_misses(scene.kind, scene.radii, scene.ends, scene.times, points, target, missed)
    for k, time in enumerate(scene.times.tolist()):
        following = min(k + 1, len(scene.times) - 1)
        interval = tick_interval(begin, end, time, scene.times.item(following) if following > k else None)
        first = None
        for j in np.flatnonzero(~missed[k]).tolist() if interval is not None else ():
            a, b, c, d = (triple(scene.ends[t, j, side]) for side in (0, 1) for t in (k, following))
            motion = Motion(
                triple(points[0]),
                triple(points[1]),
                Shape(scene.kind[j]),
                (a, b),
                (c, d),
                *scene.radii[j].tolist(),
                interval,
            )
            runs = sturm.runs(motion)
            if runs and (first is None or precedes(runs[0], first[1])):
                first = j, runs[0]
        if first is not None:
            return k, first[0], first[1], interval
    return None


def precedes(one: sturm.Run, other: sturm.Run) -> bool:
    """Whether a contact begins before another one; at one moment a closed begin precedes an open one."""
    order = one.entry.compare(other.entry)
    return order < 0 or (order == 0 and not one.entry_open and other.entry_open)


def run_chunk(seed: int, chunk: int, n: int = 1000) -> Part:
    """Evaluate and judge one chunk; rows by "family; motion", where the motion is the aimed limb's."""
    rng = np.random.default_rng([seed, chunk])
    whole = chunk % 25 == 7
    scene = scene_of(rng, whole)
    bullets = bullets_of(rng, scene, n, whole)
    size, part = FEW if chunk % 5 == 0 else n, Part(chunk)  # few are traversed one by one, many as a stream
    for first in range(0, n, size):
        some = Bullets(*(column[first : first + size] for column in bullets))
        hits = scene.history.cast_moving(some.points[:, 0], some.points[:, 1], *some.target.T)
        left, wrong = judge_rows(scene, some, hits)
        part.cases += [{"seed": seed, "chunk": chunk, "row": first + i, "what": what} for i, what in wrong]
        exact, bad = np.zeros((2, len(hits)), np.bool_)
        exact[left], bad[[i for i, _ in wrong]] = True, True
        motion = np.array([scene.motions[j] for j in some.limb])
        for name in sorted({*some.family.tolist()}):
            for moved in sorted({*motion.tolist()}):
                mine = np.flatnonzero((some.family == name) & (motion == moved))
                merge(part.rows, f"{name}; {moved}", _row(scene, hits[mine], exact[mine], bad[mine]))
    return part


def _row(scene: Scene, hits: MovingHits, exact: Array, wrong: Array) -> dict[str, float]:
    """The counts of the given bullets."""
    counts = np.bincount(hits.face, minlength=len(Face))
    numbers = {
        "bullets": len(hits),
        "pairs": len(hits) * len(scene.kind),
        "hits": hits.hit.sum(),
        **{Face(face).name.lower(): counts[face] for face in FACES},
        "rechecked": hits.rechecked,
        "by_rationals": exact.sum(),
        "wrong": wrong.sum(),
    }
    return {name: float(number) for name, number in numbers.items()}
