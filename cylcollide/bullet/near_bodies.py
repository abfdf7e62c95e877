"""The parts of a body that are read for a few rays, and bounds on the distances of its shapes from its base."""

from collections import defaultdict
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.client import BASE, MADE_OF_SHAPES, BodyLink, Client
from cylcollide.bullet.near_links import STRETCH, USUAL, arms_of, closest_hold, holds_of, joints_of, read_first
from cylcollide.bullet.near_segments import SLACK
from cylcollide.bullet.passthrough import PADDING
from cylcollide.bullet.pose_loops import PLANE
from cylcollide.bullet.poses import link_frames
from cylcollide.bullet.read_shapes import SIZES, Row
from cylcollide.bullet.scene import READINGS, MirrorScene


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
    base: Any  # PyBullet's report on the base, if nothing else can change; else None


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
