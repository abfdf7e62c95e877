"""Placement of shapes: the link's frame times the shape's own, compared with rational arithmetic; bad poses."""

from fractions import Fraction

import numpy as np
import pytest
from support.oracle import pose

from cylcollide.bullet.pose_loops import (
    BOX,
    CAPSULE,
    CYLINDER,
    EVERY_SHAPE_FITS,
    PLANE,
    SPHERE,
    pose_shapes,
    posed_memory,
)
from cylcollide.shapes import rotation_matrices
from cylcollide.world.pose_columns import PoseMemory

UNIT_ROUNDOFF = 2.0**-53


def place(frames, at, kind, size, position, rotation):
    """The memory that the loop has filled, and the first row that does not fit."""
    memory = PoseMemory(np.count_nonzero(kind != PLANE), np.count_nonzero(kind == BOX), 0, 0)
    made = posed_memory(len(at), memory.columns)
    return made, pose_shapes(frames, at, kind, size, position, rotation, made)


def scene(rng, n):
    """Frames and shapes of all kinds and sizes, with quaternions of any length."""
    frames, rotation = rng.normal(size=(n // 3, 7)), rng.normal(size=(n, 4))
    frames[:, :3] *= 10.0 ** rng.uniform(-6, 6, (n // 3, 1))
    position = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-6, 6, (n, 1))
    rotation *= 10.0 ** rng.uniform(-3, 3, (n, 1))
    kind = rng.choice([SPHERE, BOX, CYLINDER, PLANE, CAPSULE], size=n)
    return frames, rng.integers(len(frames), size=n), kind, 10.0 ** rng.uniform(-3, 3, (n, 3)), position, rotation


def test_places_and_axes_equal_rational_arithmetic():
    given = scene(np.random.default_rng(1), 300)
    made, bad = place(*given)
    frames, at, kind, size, position, rotation = given
    length = np.where((kind == CYLINDER) | (kind == CAPSULE), size[:, 0], 0.0)
    limb_row, box_row = np.cumsum(kind != PLANE) - 1, np.cumsum(kind == BOX) - 1
    assert bad == EVERY_SHAPE_FITS
    assert np.bincount(kind, minlength=8)[[SPHERE, BOX, CYLINDER, PLANE, CAPSULE]].min() > 30
    assert (made.turn == rotation_matrices(made.rotation)).all(), "as limbs that are made anew have them"
    for i in range(len(at)):
        frame, local = frames[at[i]].tolist(), position[i].tolist()
        centre = pose.carried(frame[3:], frame[:3], local)
        turn = pose.hamilton(pose.rational(frame[3:]), pose.rational(rotation[i].tolist()))
        half = pose.turned(turn, (Fraction(0), Fraction(0), Fraction(length[i]) / 2))
        ends = ((made.p1[limb_row[i]], -1), (made.p2[limb_row[i]], 1)) if kind[i] != PLANE else ()
        for made_by_loop, sign in ((made.position[i], 0), *ends):
            off = [abs(Fraction(a) - c - sign * h) for a, c, h in zip(made_by_loop, centre, half, strict=True)]
            assert max(off) <= 32 * UNIT_ROUNDOFF * (np.abs(frame[:3]).max() + np.abs(local).sum() + length[i])
        if kind[i] == BOX:
            assert np.array_equal(made.boxes[box_row[i]], [*made.turn[i].T.ravel(), *size[i] / 2.0])


@pytest.mark.parametrize("column", [0, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_pose_with_nan_or_inf(column, value):
    given = scene(np.random.default_rng(2), 60)
    frames, at = given[0], given[1]
    frames[[5, 9], column] = value
    assert place(*given)[1] == np.flatnonzero(np.isin(at, [5, 9]))[0]


def test_a_rotation_of_length_0_and_an_axis_that_vanishes_far_out():
    given = scene(np.random.default_rng(4), 60)
    _, _, kind, size, position, rotation = given
    rotation[27] = 0.0
    assert place(*given)[1] == 27
    for row, code in ((5, BOX), (11, CAPSULE), (17, PLANE), (23, CYLINDER), (31, CYLINDER)):
        position[row], size[row], kind[row] = 1e20, 0.5, code
    assert place(*given)[1] == 23
