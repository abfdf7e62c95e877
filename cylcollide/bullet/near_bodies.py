"""The parts of a body that are read for a few rays, and bounds on the places of its links and shapes.

Joints that turn have a fixed place in both of their links, and every link is rigid. So a link between two that were
read can only turn about the line through its two joints, and one beyond a link that was read only about their joint.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations_with_replacement
from math import inf, nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.client import BASE, MADE_OF_SHAPES, BodyLink, Client
from cylcollide.bullet.near_segments import SLACK
from cylcollide.bullet.passthrough import PADDING
from cylcollide.bullet.pose_loops import PLANE
from cylcollide.bullet.poses import link_frames
from cylcollide.bullet.read_shapes import SIZES, Row
from cylcollide.bullet.scene import READINGS, MirrorScene
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


class NearBody(NamedTuple):
    """The parts of a body that are read for a few rays."""

    body: int
    links: list[int]  # the link of each shape that is not wrapped
    first: list[int]  # links that are read if a ray comes near the body
    rest: list[int]  # links that are read if a ray comes near them, too
    holds: dict[int, tuple[int, int, list[float]]]  # the result of `closest_hold` for each link of the rest
    reach: float  # all shapes are within this distance of the base
    wrapped: list[tuple[float, BodyLink]]  # wrapped links by descending reach
    sliding: list[int]  # joints
    is_centred: bool  # whether the base is at the centre of its box, which contains all of its shapes
    is_bare: bool  # whether the base is centred and has no shapes
    is_checked_if_near: bool  # whether it suffices to check its shapes when a ray comes near
    base: Any  # the report on the base, without noise, if nothing else can change; else None


def near_bodies(
    client: Client, scene: MirrorScene, beyond: Float64Array, lengths: tuple[float, float], records_calls: bool
) -> list[NearBody]:
    """All bodies of a scene.

    `beyond` (n,): radius of a ball about the link's centre of mass that contains the shape. `lengths`: bounds on the
    squared lengths of the quaternions to which bases were reset.
    """
    shapes = scene.shapes
    shapes_of, wrapped_of = defaultdict[int, list[tuple[int, float]]](list), defaultdict[int, list[BodyLink]](list)
    for row, reach in zip(shapes.body_link.tolist(), beyond.tolist(), strict=True):
        shapes_of[shapes.body_links[row].body].append((shapes.body_links[row].link, reach))
    for body_link in shapes.wrapped:
        wrapped_of[body_link.body].append(body_link)
    return [
        _near_body(client, scene, body, shapes_of[body], wrapped_of[body], lengths, records_calls)
        for body in sorted({*shapes_of, *wrapped_of})
    ]


def _near_body(
    client: Client,
    scene: MirrorScene,
    body: int,
    shapes: list[tuple[int, float]],
    wrapped: list[BodyLink],
    lengths: tuple[float, float],
    records_calls: bool,
) -> NearBody:
    """One body, with the link and the reach of each shape, and its wrapped links."""
    joints, read = joints_of(client, body), scene.reading.bodies[body]
    length, sliding = arms_of(joints, lengths[1])
    links, base_rows = {link for link, _ in shapes} - {BASE}, read.rows[BASE]
    is_centred = _is_centred(client, body, base_rows)
    is_bare = bool(links) and not wrapped and is_centred and not base_rows
    is_base = [*read.variable] == [BASE]  # no other shape can change
    first = read_first(joints, links, is_bare) if lengths == USUAL else sorted(links)
    first = first or sorted(links or ({link.link for link in wrapped} - {BASE}))[: bool(wrapped)]
    rest = sorted(links - {*first})
    distances = []
    for body_link in wrapped:
        is_own = body_link.link != BASE and client.getBodyInfo(body)[0] != MADE_OF_SHAPES  # no call changes it
        is_described = (records_calls or is_own) and read.rows[body_link.link] is not None
        distances.append(length[body_link.link] + _mesh_radius(client, body_link) if is_described else inf)
    return NearBody(
        body,
        [link for link, _ in shapes],
        first,
        rest,
        {link: closest_hold(holds_of(joints, link, first), STRETCH) for link in rest},
        max([0.0, *(length[link] + reach for link, reach in shapes if reach > 0.0), *distances]),
        sorted(zip(distances, wrapped, strict=True), key=lambda of_link: -of_link[0]),
        sliding,
        is_centred,
        is_bare,
        is_base and (is_centred or all(row[0] == PLANE for row in base_rows or ())),
        read.variable[BASE] if is_base and is_centred else None,
    )


def _is_centred(client: Client, body: int, rows: tuple[Row, ...] | None) -> bool:
    """Whether a base with these shapes is at the centre of its box in any pose, also after the shapes are scaled.

    For a base without a box PyBullet reports a box at the origin: a point there does not count.
    """
    if rows is None or any(row[0] not in SIZES or row[0] == PLANE or any(row[2]) for row in rows):
        return False
    low, high = np.array(client.getAABB(body, BASE))
    place = np.array(client.getBasePositionAndOrientation(body)[0])
    is_centre = np.abs((low + high) / 2.0 - place) <= SLACK * np.maximum(np.abs(low), np.abs(high))
    return bool(is_centre.all() and (place.any() or (low < high).all()))


def _mesh_radius(client: Client, body_link: BodyLink) -> float:
    """Radius of a ball about a rigid mesh's centre of mass that contains it in any pose, from its present box."""
    place, low, high = np.full((3, 3), nan)
    for _ in range(READINGS):  # until no other thread moves it meanwhile
        before = place
        low, high = np.array(client.getAABB(*body_link))
        place = link_frames(client, {body_link.body: [body_link.link]})[0, :3]
        if np.array_equal(place, before):
            break
    return float(np.linalg.norm(np.maximum(high - place, place - low) + PADDING))


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
