"""Collision filters: which rays hit which links. PyBullet does not report filter groups, so its own rays measure them.

A ray with the mask m can hit a link of group g and mask k if g & m and k & 1 are not zero: rays are of group 1.
"""

from collections.abc import Callable

import numpy as np

from cylcollide._types import ALL_LAYERS, BoolArray, Float64Array, Int64Array, Uint32Array
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.read_shapes import Shapes, ball_radii
from cylcollide.bullet.tuples import MISS
from cylcollide.runtime.distinct import distinct_rows

DEFAULT, STATIC = 1, 2  # Bullet's default groups of moving and of static bodies
DIRECTIONS = np.array([[3, 5, 7], [-5, 7, 3], [7, -3, 5], [-3, -5, -7], [5, -7, -3], [-7, 3, -5]]) / np.sqrt(83.0)
MEASUREMENTS = 16  # most repetitions, while other threads move links
START = 1.5  # where a probe starts and ends, in radii of a ball around the shape

CROWDED = 4  # from this hit number on, probes are cast one at a time


def filter_groups(
    client: Client, shapes: Shapes, centres: Callable[[], Float64Array], known: dict[BodyLink, int]
) -> dict[BodyLink, int]:
    """The filter group of every link, 0 if no ray can hit it; all groups for wrapped links, left to Bullet.

    `centres` reads the present centres of the shapes, (n, 3). `known`: the groups of links that need not be measured.

    Bullet misses a few rays, so a link counts as filtered only if several rays miss it. It misses every ray at a
    body made with an inertial frame of its own until a step or `performCollisionDetection` recomputes its boxes; this
    calls the latter if any link was missed. Links that another thread moves meanwhile are measured again.
    """
    groups = np.array([known.get(link, 0) for link in shapes.body_links], dtype=np.uint32)
    used = np.unique(shapes.body_link).tolist()
    left = np.array([k for k in used if shapes.body_links[k] not in known], dtype=np.int64)
    place, are_boxes_new = centres(), False
    for _ in range(MEASUREMENTS):
        if not len(left):
            break
        _measure(client, shapes, place, left, groups)
        first, before, place = np.searchsorted(shapes.body_link, left), place, centres()
        has_moved = (place[first].view(np.int64) != before[first].view(np.int64)).any(axis=1)
        is_missed = groups[left] == 0
        left = left[has_moved | (is_missed & (not are_boxes_new))]
        if is_missed.any() and not are_boxes_new:
            client.performCollisionDetection()
            are_boxes_new = True
    return dict(zip(shapes.body_links, groups.tolist(), strict=True)) | dict.fromkeys(shapes.wrapped, ALL_LAYERS)


def _measure(client: Client, shapes: Shapes, centres: Float64Array, left: Int64Array, groups: Uint32Array) -> None:
    """Write the groups of these links, 0 for those that rays in several directions miss."""
    groups[left] = 0
    for direction in DIRECTIONS:
        probes = _probes(shapes, centres, left, direction)
        hit = _hit(client, shapes, left, probes, ALL_LAYERS)
        groups[left[hit]] = _groups(client, shapes, left[hit], probes[hit])
        left = left[~hit]


def _groups(client: Client, shapes: Shapes, body_links: Int64Array, probes: Float64Array) -> Uint32Array:
    """The groups of links that some ray hits: two probes for the default groups, one per bit for others."""
    groups = np.zeros(len(probes), np.uint32)
    for bit in (DEFAULT, STATIC):
        groups[_hit(client, shapes, body_links, probes, bit)] |= np.uint32(bit)
    others = np.flatnonzero(_hit(client, shapes, body_links, probes, ALL_LAYERS ^ (DEFAULT | STATIC)))
    for bit in (1 << k for k in range(2, 32)):
        if len(others):
            groups[others[_hit(client, shapes, body_links[others], probes[others], bit)]] |= np.uint32(bit)
    return groups


def _probes(shapes: Shapes, centres: Float64Array, body_links: Int64Array, direction: Float64Array) -> Float64Array:
    """Both ends, (n, 6), of a segment through the first shape of each link: it must hit an unfiltered link."""
    first = np.searchsorted(shapes.body_link, body_links)  # shapes come sorted by link
    radius, centre = ball_radii(shapes.kind[first], shapes.size[first]), centres[first]
    reach = START * np.where(radius == np.inf, 1.0, radius)[:, None] * direction
    return np.hstack([centre - reach, centre + reach])


def _hit(client: Client, shapes: Shapes, body_links: Int64Array, probes: Float64Array, mask: int) -> BoolArray:
    """Which of these links are hit by a probe, first or behind other hits. Equal probes are cast once."""
    first, of_link = distinct_rows(probes)
    start, end = probes[first, :3], probes[first, 3:]
    links = {shapes.body_links[k]: i for i, k in enumerate(body_links.tolist())}
    is_hit, left = np.zeros(len(body_links), np.bool_), [(np.arange(len(first)), 0)]
    while left:
        rays, number = left.pop()
        unresolved = np.bincount(of_link[~is_hit], minlength=len(first))
        rays = rays[unresolved[rays] > 0]
        if number == CROWDED:  # the hits of one ray may resolve all others
            left += [(rays[1:], number)] * (len(rays) > 1)
            rays = rays[:1]
        if len(rays):
            keywords = {"collisionFilterMask": signed(mask), "reportHitNumber": number}
            hits = client.ray_hits(start[rays], end[rays], **keywords)
            is_hit[[links[hit[:2]] for hit in hits if hit[:2] in links]] = True
            left.append((rays[[hit != MISS for hit in hits]], number + 1))
    return is_hit


def signed(mask: int) -> int:
    """32 bits as the signed number that PyBullet takes."""
    return mask - (1 << 32) if mask >> 31 else mask
