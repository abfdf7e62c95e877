"""Bones posed by their joints, in rational arithmetic: within the bound of docs/numerics.md, joint by joint."""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from support.check_cylinders import sized
from support.machine_code import interpreted
from support.oracle import pose
from support.oracle.pose import rational

from cylcollide.bones.forward import pose_bones

pytestmark = pytest.mark.plain_python

U = 2.0**-53


class Tree(NamedTuple):
    """Parents of the bones, and where each is in its parent's frame, (bones, 3)."""

    parents: np.ndarray
    offsets: np.ndarray


def skeleton(rng, bones):
    """A tree with long chains, two roots, and offsets of different lengths."""
    parents = [-1, 0, 1, 2, -1, *(int(rng.integers(max(0, i - 2), i)) for i in range(5, bones))]
    offsets = rng.normal(size=(bones, 3)) * 10.0 ** rng.uniform(-3, 3, (bones, 1))
    offsets[0] = 0.0
    return Tree(np.array(parents, np.int32), offsets)


def joints_of(rng, k, bones):
    """Joint quaternions with lengths over the whole range: random turns, half turns, tiny turns."""
    joints = rng.normal(size=(k, bones, 4))
    joints[:, 1::4, 3] = 0.0
    joints[:, 2::4, :3] *= 1e-9
    return joints * 2.0 ** rng.integers(-490, 490, (k, bones, 1))


def crowd(rng, bones):
    """A tree, and root positions, root orientations and joints of 19 characters: 2 batches of 8, and 3."""
    return skeleton(rng, bones), rng.normal(size=(19, 3)), rng.normal(size=(19, 4)), joints_of(rng, 19, bones)


def posed(tree, roots, root_turns, joints, pose_all=pose_bones, offsets=None):
    offsets = tree.offsets[None] if offsets is None else offsets
    positions, orientations = np.full((*joints.shape[:2], 3), np.nan), np.full(joints.shape, np.nan)
    return pose_all(tree.parents, roots, root_turns, offsets, joints, positions, orientations), positions, orientations


def path(tree, bone):
    """The bones from the root to this one."""
    found = [bone]
    while (parent := int(tree.parents[found[0]])) >= 0:
        found.insert(0, parent)
    return found


def real_pose(tree, root, root_turn, joints, bone):
    """Position and quaternion (of any length) of a bone, without rounding."""
    at, turn = rational(root), rational(root_turn)
    for b in path(tree, bone):
        offset = pose.turned(turn, rational(tree.offsets[b]))
        at, turn = tuple(p + o for p, o in zip(at, offset, strict=True)), pose.hamilton(turn, rational(joints[b]))
    return at, turn


def bounds(tree, positions, bone):
    """Bounds of the errors of position and angle, from docs/numerics.md."""
    way = path(tree, bone)
    error = 2 * U * np.abs(positions[way[0]]).max()
    if way[0] != 0:
        error += 2 * U * np.abs(tree.offsets[way[0]]).max()  # carried from the first root
    for depth, (parent, child) in enumerate(pairwise(way), start=1):
        largest = np.abs(positions[[parent, child]]).max()
        error += 14 * depth * U * np.linalg.norm(tree.offsets[child]) + 3**0.5 * 1.02 * U * largest
    return error, 14 * len(way) * U


def angle(got, want):
    """The angle between two rotations, radians, small; quaternions of any length."""
    dot, square = sum(g * w for g, w in zip(got, want, strict=True)), sum(w * w for w in want)
    across = sum((g - w * dot / square) ** 2 for g, w in zip(got, want, strict=True))
    return 2 * float(across / sum(g * g for g in got)) ** 0.5


def test_chains_keep_their_bound():
    rng, shares, turns = np.random.default_rng(1), [], []
    for _ in range(sized(60) // 10):
        tree = skeleton(rng, 12)
        roots, root_turns, joints = rng.normal(size=(3, 3)), rng.normal(size=(3, 4)), joints_of(rng, 3, 12)
        both = 2.0 ** np.array([[495], [0], [-495]])  # the longest with the longest, the shortest with the shortest
        root_turns, joints[:, 0] = both * root_turns, both * rng.normal(size=(3, 4))
        status, positions, orientations = posed(tree, roots, root_turns, joints)
        assert status == -1
        for c in range(3):
            for bone in range(12):
                at, turn = real_pose(tree, roots[c], root_turns[c], joints[c], bone)
                error = sum((Fraction(float(g)) - w) ** 2 for g, w in zip(positions[c, bone], at, strict=True))
                largest, most = bounds(tree, positions[c], bone)
                shares.append(float(error) ** 0.5 / largest)
                turns.append(angle(rational(orientations[c, bone]), turn) / most)
                assert abs(np.linalg.norm(orientations[c, bone]) - 1.0) <= 8 * U
    assert 0.05 < max(shares) <= 1.0  # errors occur, and the bound is not vast
    assert 0.05 < max(turns) <= 1.0


def test_loops_agree():
    """Eight side by side, one by one, and plain Python: the same bits."""
    rng = np.random.default_rng(3)
    tree, roots, turns, joints = crowd(rng, 9)
    status, positions, orientations = posed(tree, roots, turns, joints)
    assert status == -1
    for first, last in ((0, 19), (5, 6), (2, 12)):
        rows = slice(first, last)
        for pose_all in (pose_bones, interpreted(pose_bones)):
            again = posed(tree, roots[rows].copy(), turns[rows].copy(), joints[rows].copy(), pose_all)
            assert again[0] == -1
            assert np.array_equal(again[1], positions[rows])
            assert np.array_equal(again[2], orientations[rows])


def test_offsets_of_each_character_have_the_bits_of_one_tree_each():
    rng = np.random.default_rng(5)
    tree, roots, turns, joints = crowd(rng, 7)
    offsets = tree.offsets + 0.1 * rng.normal(size=(19, 7, 3))
    for pose_all in (pose_bones, interpreted(pose_bones)):
        status, positions, orientations = posed(tree, roots, turns, joints, pose_all, offsets)
        assert status == -1
        for c in range(19):
            one = slice(c, c + 1)
            own = posed(Tree(tree.parents, offsets[c]), roots[one], turns[one], joints[one])
            assert np.array_equal(own[1][0], positions[c])
            assert np.array_equal(own[2][0], orientations[c])
