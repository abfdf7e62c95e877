"""Bounds from joints on the places of links: their distances from the base, and places relative to other links.

Joints that turn have a fixed place in both of their links, and every link is rigid. So a link between two that were
read can only turn about the line through its two joints, and one beyond a link that was read only about their joint.
"""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from math import inf
from typing import TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.client import BASE, Client
from cylcollide.bullet.near_segments import SLACK
from cylcollide.shapes import rotation_matrices

REVOLUTE, PRISMATIC, SPHERICAL, FIXED = 0, 1, 2, 4  # PyBullet's JOINT_REVOLUTE and so on
JOINT_TYPE, JOINT_AXIS, IN_PARENT, PARENT = 2, 13, 14, 16  # fields of getJointInfo
INERTIAL, TURN = 2, 3  # fields of getLinkState: the frame of the centre of mass in that of the joint

FAR_SLIDING = -1
"""In place of PRISMATIC if the axis is longer than 1: PyBullet moves the link by the position times this length."""

STRETCH = 1.0625
"""Factor by which a body whose base was reset to a quaternion of length 1.03 is stretched until the next step."""

USUAL = 1.0 / STRETCH, STRETCH
"""Bounds of `LENGTHS` between which joints still bound the place of a link."""

LENGTHS = [USUAL]
"""Bounds on the squared lengths of all quaternions to which bases were reset, recorded by `watch`: bodies are stretched
by these factors, again whenever such a state is restored."""

ARMS = 10
"""Length of a row of `NearShapes.arms`."""

Joint: TypeAlias = tuple[int, int, Float64Array, Float64Array]
"""Type, parent link, and the joint's place in the frames of the parent's centre of mass and of the link's own."""

Hold: TypeAlias = tuple[int, Float64Array, Float64Array]
"""A link, or the base, and the joint's place in its frame and in that of the link that it holds."""


def joints_of(client: Client, body: int) -> list[Joint]:
    """The joint of each link of a body."""
    joints = []
    for link in range(client.getNumJoints(body)):
        joint, state = client.getJointInfo(body, link), client.getLinkState(body, link)
        turn = rotation_matrices(np.array([state[TURN]]))[0]
        own = -turn.T @ np.array(state[INERTIAL])
        is_long = joint[JOINT_TYPE] == PRISMATIC and np.linalg.norm(joint[JOINT_AXIS]) > 1.0 + SLACK
        kind = FAR_SLIDING if is_long else joint[JOINT_TYPE]
        joints.append((kind, joint[PARENT], np.array(joint[IN_PARENT]), own))
    return joints


def arms_of(joints: list[Joint], stretch: float) -> tuple[dict[int, float], list[int]]:
    """Bounds on the distances of links from the base: places in a link keep their distance up to a factor `stretch`.

    Returns the length from the base's centre of mass to that of each link, without sliding, inf if it is not known; and
    the sliding joints, whose positions have to be added.
    """
    length, sliding = {BASE: 0.0}, []
    for link, (kind, parent, in_parent, own) in enumerate(joints):
        is_known = kind in (REVOLUTE, PRISMATIC, SPHERICAL, FIXED)
        arms = stretch * float(np.linalg.norm(in_parent) + np.linalg.norm(own))
        length[link] = length.get(parent, inf) + arms if is_known else inf
        if kind == PRISMATIC:
            sliding.append(link)
    return length, sliding


def read_first(joints: list[Joint], links: Iterable[int], bare: bool) -> list[int]:
    """The links to read, so that a joint connects each other one of `links` to a link that is read.

    The base is read, too, if it is not bare.
    """
    first = set[int]()
    for link in sorted(links, reverse=True):
        if link not in first:
            kind, parent, *_ = joints[link]
            is_held = kind in (REVOLUTE, SPHERICAL, FIXED) and parent < link and not (bare and parent == BASE)
            first |= {parent if is_held else link} - {BASE}
    return sorted(first)


def holds_of(joints: list[Joint], link: int, read: Iterable[int]) -> list[Hold]:
    """The joints between a link and its parent, and between it and its children among the links that are read."""
    _, parent, in_parent, own = joints[link]
    holds = [(parent, in_parent, own)]
    for child in read:
        kind, its_parent, in_link, in_child = joints[child]
        if its_parent == link and kind in (REVOLUTE, SPHERICAL, FIXED):
            holds.append((child, in_child, in_link))
    return holds


def _length_of(hold: Hold) -> float:
    """Largest distance between a link and the link that holds it."""
    return float(np.linalg.norm(hold[1]) + np.linalg.norm(hold[2]))


def closest_hold(holds: list[Hold], stretch: float) -> tuple[int, int, list[float]]:
    """The two holds, or one twice, that bound the place of a link best, and a row of `NearShapes.arms`.

    The bound is valid for a body that is stretched or shrunk by at most `stretch`.
    """
    found, least = (holds[0], holds[0], 0.0), inf
    for first, second in combinations_with_replacement(holds, 2):
        way = second[2] - first[2]
        square = float(way @ way)
        share = min(max(float(-first[2] @ way) / square, 0.0), 1.0) if square > 0.0 else 0.0
        moved = (1.0 - share) * _length_of(first) + share * _length_of(second)
        room = float(np.linalg.norm(first[2] + share * way)) + (stretch - 1.0) * moved
        if room < least:
            found, least = (first, second, share), room
    (a, at_a, in_a), (b, at_b, in_b), share = found
    slack = SLACK * float(sum(map(np.linalg.norm, (at_a, in_a, at_b, in_b))))
    apart = float(np.linalg.norm(in_b - in_a))
    return a, b, [share, *at_a.tolist(), *at_b.tolist(), apart, slack, least + slack]
