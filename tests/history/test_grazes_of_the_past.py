"""Rays that just touch a limb between two ticks: no filter before the exact verdict leaves the limb out.

Coordinates are integers times a power of two, so that touches are exact: bones move by multiples of eight, alphas are
eighths, turns are identities or permute axes. A ray one float64 farther outside misses, one nearer hits; also
far away, from a distance of 2**40 sizes, and at both ends of the accepted numbers.
"""

from typing import Any

import numpy as np
import pytest
from support.check_cylinders import differing
from support.matches.answers import CHORD, HIT, columns, compressed, in_order
from support.one_limb import one_bone_rig

import cylcollide as cc
from cylcollide.history import PoseHistory
from cylcollide.recorded.limbs import place_recorded

pytestmark = pytest.mark.plain_python

PEOPLE = 8
TURNS = np.array([[0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5], [-0.5, 0.5, -0.5, 0.5], [0, 0, 0, -3.0]])
"""Identity, axes permuted forth and back, identity again; integers stay integers."""
RADIUS = 2.0

FIELDS = {1.0: 2**20, 2.0**450: 16, 2.0**-450: 2**40, 2.0**-40: 2**40}
"""Largest coordinates of characters by scale, in its units: far away, few float64 numbers lie near a touch."""


def rigs(scale: float) -> tuple[cc.Rig, cc.Rig]:
    """A bone with a sphere around it, which fills its box, and a bone with a sphere and a capsule beside it."""
    radius, away = RADIUS * scale, np.array([0.0, 8.0, 0.0]) * scale
    ball = cc.Limbs.spheres([0.0, 0.0, 0.0], radius)
    others = cc.Limbs.concat([cc.Limbs.spheres(2.0 * away, radius), cc.Limbs.capsules(away, 2.0 * away, radius)])
    one, two = (one_bone_rig(limbs) for limbs in (ball, others))
    return one, two


def walk(rng: np.random.Generator, scale: float, field: int, interpolate: str) -> PoseHistory:
    """Five ticks of characters that move by multiples of eight."""
    world = cc.HitWorld()
    history = PoseHistory(world, interpolate=interpolate)
    ids = [i for rig in rigs(scale) for i in world.spawn(rig, PEOPLE // 2)]
    at = 8.0 * rng.integers(-field // 8, field // 8 + 1, (PEOPLE, 3))
    turn = TURNS[rng.integers(0, len(TURNS), PEOPLE)]
    for tick in range(5):
        at = at + 8.0 * rng.choice([0, 0, 0, -8, 1, 2, -3], (PEOPLE, 3))
        if tick == 2:
            turn = TURNS[rng.integers(0, len(TURNS), PEOPLE)]
        world.set_poses(ids, scale * at[:, None], turn[:, None])
        history.record(tick)
    return history


def touching(rng: np.random.Generator, history: PoseHistory, scale: float, n: int):
    """Segments along an axis that touch the ball about p2 of a limb; also the offset in ulp, and that limb."""
    ticks = rng.choice([0, 2, 3], n)  # characters turn between 1 and 2
    alpha = rng.integers(0, 8, n) / 8
    start, end = np.empty((2, n, 3))
    beside, target = rng.integers(-1, 2, n), rng.integers(0, len(history.limbs_at(0)), n)
    for i in range(n):
        limbs = history.limbs_at(tick=int(ticks[i]), alpha=float(alpha[i]))
        centre = limbs.p2[target[i]] / scale
        along, across = rng.permutation(3)[:2]
        side = rng.choice([-1.0, 1.0])
        ahead = 2.0 ** rng.choice([2, 3, 4, 6, 20, 40])
        sides = centre.copy()
        sides[across] += side * RADIUS
        assert np.array_equal(sides, np.round(sides))
        start[i], end[i] = scale * sides, scale * sides
        if beside[i]:  # of the scaled number: beside 0 that is the smallest float64
            start[i, across] = end[i, across] = np.nextafter(scale * sides[across], np.inf * side * beside[i])
        start[i, along], end[i, along] = scale * (centre[along] - ahead), scale * (centre[along] + ahead)
        if rng.random() < 0.5:
            start[i], end[i] = end[i].copy(), start[i].copy()
    return start, end, ticks, alpha, beside, target


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
@pytest.mark.parametrize("scale", FIELDS)
def test_touches(scale: float, interpolate: str):
    rng = np.random.default_rng(11)
    history, n = walk(rng, scale, FIELDS[scale], interpolate), 12
    start, end, ticks, alpha, beside, target = touching(rng, history, scale, n)
    hits = history.cast_segments(start, end, tick=ticks, alpha=alpha)
    assert hits.hit[beside <= 0].all()
    assert (hits.thickness[beside == 0] == 0.0).any()
    rays = history.cast_rays(start, end - start, tick=ticks, alpha=alpha, max_distance=np.inf)
    assert rays.hit[beside <= 0].all()
    chords = history.chords_segments(start, end, tick=ticks, alpha=alpha)
    touched = [target[i] in chords[i].limb for i in range(n)]
    is_ball = history.limbs_at(0).kind[target] == cc.Shape.SPHERE  # a capsule extends beyond its end
    assert np.array_equal(touched, (beside <= 0) | (~is_ball & touched))
    assert (is_ball & (beside > 0)).any()
    got, rows = columns(hits, HIT), compressed(chords, CHORD)
    for i in range(n):
        fresh = cc.HitWorld(history.limbs_at(tick=int(ticks[i]), alpha=float(alpha[i])))
        one = np.array([i])
        assert not differing(in_order(got, one), columns(fresh.cast_segments(start[i], end[i]), HIT)), i
        assert not differing(in_order(rows, one), compressed(fresh.chords_segments(start[i], end[i]), CHORD)), i
        point = 0.5 * start[i] + 0.5 * end[i]
        inside = history.contains_points(point, tick=int(ticks[i]), alpha=float(alpha[i]))
        assert inside.count[0] == fresh.contains_points(point).count[0]
        assert inside.count[0] > 0 or beside[i] > 0


def test_an_undecided_ray_places_no_limbs_of_other_rays(monkeypatch: pytest.MonkeyPatch):
    """Until a field needs their places: placing all for one graze among many hits took a quarter of the time."""
    rng, ahead = np.random.default_rng(11), np.array([0.0, 0.0, 9.0])
    history = walk(rng, 1.0, FIELDS[1.0], "bones")
    grazes, behind, ticks, alphas, beside, _ = touching(rng, history, 1.0, 12)
    k = np.flatnonzero(beside == 0)[:1]
    balls = np.tile(history.limbs_at(tick=0).p2[: PEOPLE // 2], (5, 1))  # of the first rig
    start, end = np.concatenate([grazes[k], balls + ahead]), np.concatenate([behind[k], balls - ahead])
    tick, alpha = np.zeros(len(start), int), np.zeros(len(start))
    tick[0], alpha[0] = ticks[k].item(), alphas[k].item()
    placed: list[int] = []

    def counted(*args: Any) -> None:
        placed.append(len(args[4]))
        place_recorded(*args)

    monkeypatch.setattr("cylcollide.history.rewound.place_recorded", counted)
    hits = history.cast_segments(start, end, tick=tick, alpha=alpha)
    assert hits.hit.all()
    assert hits.rechecked == 1
    assert 1 <= sum(placed) < len(hits) // 2
    assert (hits.thickness[1:] > 0.0).all()
    assert sum(placed) > len(hits)
