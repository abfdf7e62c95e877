"""Faces, normals and thicknesses: cases solved by hand, and finite differences of the distance."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import sized
from support.oracle.shapes import tube
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

pytestmark = pytest.mark.plain_python

PIPE = tube.PIPE.limbs()
BY_HAND = {name: case for row in SHAPE_ROWS.values() for name, case in row.hits.items()}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str):
    limb, start, end, face, normal, distance, exit_face, exit_normal, exit_distance = BY_HAND[name]
    for ask in (limb.limbs(), cc.HitWorld(limb.limbs())):
        hit = ask.cast_segments(start, end)[0]
        assert (hit.face, hit.exit_face) == (face, exit_face)
        assert hit.normal == pytest.approx(normal, abs=1e-15)
        assert hit.exit_normal == pytest.approx(exit_normal, abs=1e-15)
        assert (hit.distance, hit.exit_distance) == pytest.approx((distance, exit_distance), abs=1e-15 * 8)
        assert hit.thickness == pytest.approx(exit_distance - distance, abs=1e-14)


PIPE_POLICIES = {
    # start in the wall, then through the bore into the other wall: distances of the hit and of the chords
    ("hit", -1.5): (0.0, 0.5, [(0.0, 0.5), (2.5, 3.5)]),
    ("exit", -1.5): (0.5, 0.5, [(0.0, 0.5), (2.5, 3.5)]),
    ("ignore", -1.5): (None, None, []),
    # start in the bore, which is not inside
    ("hit", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    ("exit", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    ("ignore", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    # start on the bore's wall, leaving the solid at once
    ("hit", -1.0): (0.0, 0.0, [(0.0, 0.0), (2.0, 3.0)]),
    ("exit", -1.0): (0.0, 0.0, [(0.0, 0.0), (2.0, 3.0)]),
    ("ignore", -1.0): (None, None, []),
    # start on the bore's wall, going into the solid
    ("hit", 1.0): (0.0, 1.0, [(0.0, 1.0)]),
    ("exit", 1.0): (1.0, 1.0, [(0.0, 1.0)]),
    ("ignore", 1.0): (None, None, []),
}


@pytest.mark.coverage
@pytest.mark.parametrize(("inside", "x"), PIPE_POLICIES)
def test_a_pipe_under_each_policy(inside: str, x: float):
    entry, leave, chords = PIPE_POLICIES[inside, x]
    row = [[x, 0, 1]], [[x + 4, 0, 1]]
    world = cc.HitWorld(PIPE)
    for hits in (PIPE.cast_segments(*row, inside=inside), world.cast_segments(*row, inside=inside)):
        assert hits.started_inside[0] == (x != 0.0)
        assert hits.hit[0] == (entry is not None)
        if entry is not None:
            assert (hits.distance[0], hits.exit_distance[0]) == (entry, leave)
    found = world.chords_segments(*row, inside=inside)
    assert [(4 * a, 4 * b) for a, b in zip(found.entry_fraction, found.exit_fraction, strict=True)] == chords
    assert world.occluded_segments(*row, inside=inside)[0] == (entry is not None)


@pytest.mark.parametrize("at_exit", [False, True])
def test_normals_are_the_gradient_of_the_distance(at_exit: bool):
    """Moving the ray by e changes the distance of the hit by -(n·e)/(n·d), which gives n."""
    shapes, rng = mixed(sized(210), seed=9), np.random.default_rng(2)
    n = len(shapes)
    target = shapes.p1 + rng.random((n, 1)) * (shapes.p2 - shapes.p1) + rng.normal(size=(n, 3)) * 0.2
    towards = _unit(rng.normal(size=(n, 3)))
    face, normal, distance = ("exit_" * at_exit + name for name in ("face", "normal", "distance"))

    def cast(shift: np.ndarray) -> cc.RayHits:
        return shapes.limbs().cast_rays(target - 4 * towards + shift, towards)

    hits, step = cast(np.zeros(3)), 1e-6
    moved = [(cast(step * e), cast(-step * e)) for e in np.eye(3)]
    with np.errstate(invalid="ignore"):  # misses are infinitely far
        slope = np.stack([getattr(a, distance) - getattr(b, distance) for a, b in moved], axis=1) / (2 * step)
    found = getattr(hits, normal)
    kept = hits.hit & (np.abs(np.einsum("ni,ni->n", found, towards)) > 0.3)
    for one in (side for pair in moved for side in pair):
        kept &= getattr(one, face) == getattr(hits, face)
    assert np.bincount(shapes.kind[kept], minlength=len(SHAPE_ROWS)).min() >= sized(210) // 42
    assert np.abs(np.linalg.norm(found[kept], axis=1) - 1).max() < 4e-15
    want = _unit(slope[kept]) * (-1 if at_exit else 1)
    assert np.abs(found[kept] - want).max() < 1e-5


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=1)[:, None]
