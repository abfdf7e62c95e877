"""Loops that mark what a few rays come near: bodies, from their bases, and links, from those that are read first."""

from math import inf, sqrt

import numpy as np

from cylcollide._types import Float64Array, Rows
from cylcollide.bones.frames import rotated
from cylcollide.bullet.near_loops import NO_RAY, UNDECIDED, NearMemory, NearShapes
from cylcollide.bullet.near_segments import (
    SLACK,
    Segment,
    are_within,
    crosses,
    is_within,
    segment_at,
    size_of,
    slope_of,
    square_distance,
    with_slack,
)
from cylcollide.kernels.double_double import Vector
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, broadcast, load, lowest_bit, movemask, select, smaller, store

OFTEN = 4
"""After this many consecutive ray tests near a body, it is read without reading the box of its base first."""


LINKS_FIRST = -2
"""In place of a count: links that are marked as unread have to be read first."""


@compiled_loop
def mark_near(shapes: NearShapes, memory: NearMemory, n: int, by_bases: bool) -> int:
    """Mark bodies that the first n segments come near, from their bases, and links, from those of them that were read.

    Returns how many links are marked as wanted and still to be read; LINKS_FIRST, after which it has to be called again
    without `by_bases`; UNDECIDED for a plane that has moved, frames that are not finite, or too many pairs.
    """
    if by_bases:
        unread = _mark_bodies(shapes, memory, n)
        if unread != 0:
            return LINKS_FIRST if unread > 0 else UNDECIDED
    return _mark_links(shapes, memory, n)


@inlined
def _mark_bodies(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Mark the bodies that the first n segments come near, from their bases; how many reads are due, or UNDECIDED.

    A base is in `memory.frames`, or is the centre of a box in `memory.around`, which contains its present shapes. A
    body that was read at once counts as near. The box of a wrapped link is current once any link of its body was read.
    """
    starts, ends, longest, unread = memory.batch.rays.origin, memory.batch.rays.second, 0.0, 0
    for k in range(len(shapes.plane_at)):
        for axis in range(shapes.plane_bits.shape[1]):
            if memory.bits[shapes.plane_at[k], axis] != shapes.plane_bits[k, axis]:
                return UNDECIDED
    for i in range(n):
        longest = max(longest, segment_at(starts, ends, i)[3])
    for body in range(len(memory.near)):
        box, is_read, out, square = memory.around[body], memory.read[body] > 0, 0.0, 0.0
        by_link, by_box = is_read and shapes.bare[body], shapes.centred[body] and not is_read
        frame = memory.frames[shapes.first_link[body] if by_link else body]  # a link read at once is near it
        for slide in range(shapes.first_slide[body], shapes.first_slide[body + 1]):
            out += shapes.stretch * abs(memory.slides[slide, 0])
        for axis in range(3):
            memory.place[axis, body] = 0.5 * (box[axis] + box[3 + axis]) if by_box else frame[axis]
            square += 0.25 * (box[3 + axis] - box[axis]) * (box[3 + axis] - box[axis])
        beyond = sqrt(square) + shapes.grown - shapes.reach[body]
        memory.out[body] = beyond if by_box and beyond > out else out
        size = size_of(memory.place[0, body], memory.place[1, body], memory.place[2, body])
        memory.place[3, body] = with_slack(shapes.reach[body] + memory.out[body], size)
    for first in range(0, len(memory.near), LANES):
        _measure(memory, n, first)
    for body in range(len(memory.near)):
        square, reach = memory.square[body], memory.place[3, body] + SLACK * longest
        is_near, is_read, box, wrapped = not square > reach * reach, memory.read[body] > 0, shapes.first_box[body], 0
        largest = longest + size_of(memory.place[0, body], memory.place[1, body], memory.place[2, body])
        while box + wrapped < shapes.first_box[body + 1] and is_within(
            square, largest, shapes.box_reach[box + wrapped] + memory.out[body]
        ):
            wrapped += 1
        memory.often[body] = memory.often[body] + 1 if is_near else 0
        memory.near[body], memory.wrapped[body] = is_near or is_read, wrapped
        has_links, bare = shapes.first_rest[body] > shapes.first_link[body], shapes.bare[body]
        memory.unplaced[body] = is_near and shapes.centred[body] and not bare and not is_read
        memory.unread[body] = memory.near[body] and has_links and not (bare and is_read)
        unread += memory.unplaced[body] + memory.unread[body]
    return unread


@inlined
def _measure(memory: NearMemory, n: int, first: int) -> None:
    """Write the least squared distances of the first n segments from eight bodies, from `first` on, and near pairs."""
    starts, ends, width = memory.batch.rays.origin, memory.batch.rays.second, memory.place.shape[1]
    place, radius = _three(memory.place, first), load(memory.place, 3 * width + first)
    least_of_eight = broadcast(inf)
    for i in range(n):
        segment = segment_at(starts, ends, i)
        squares = square_distance(segment, place)
        squares = select(squares >= 0.0, squares, 0.0)  # NaN counts as near
        memory.pairs[i, first // LANES] = movemask(are_within(squares, segment, radius))
        least_of_eight = smaller(squares, least_of_eight)
    store(memory.square, first, least_of_eight)


@inlined
def _three(columns: Rows[np.float64], offset: int) -> tuple[Real, Real, Real]:
    """Eight entries of three rows, from `offset` on."""
    width = columns.shape[1]
    return load(columns, offset), load(columns, width + offset), load(columns, 2 * width + offset)


@inlined
def _mark_links(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Write which links of near bodies the first n segments may come near, and which of these are still to be read.

    Returns how many are to be read, or UNDECIDED for frames that are not finite, or too many pairs.
    """
    starts, ends, ray_links = memory.batch.rays.origin, memory.batch.rays.second, memory.ray_links
    count, wanted, longest, width = 0, 0, 0.0, memory.limits.shape[1]
    memory.wanted[:] = False
    for i in range(n):
        longest = max(longest, segment_at(starts, ends, i)[3])
    for body in range(len(memory.near)):
        memory.limits[:, body] = inf
        if memory.near[body] and not _surround(shapes, body, memory, longest):
            return UNDECIDED
    for i in range(n):
        segment = segment_at(starts, ends, i)
        slopes = slope_of(segment[1][0]), slope_of(segment[1][1]), slope_of(segment[1][2])
        for first in range(0, len(memory.near), LANES):
            low, high = _three(memory.limits, first), _three(memory.limits, 3 * width + first)
            crossed = movemask(crosses(segment, slopes, low, high)) & _first_bits(len(memory.near) - first)
            while crossed != 0:
                body = first + lowest_bit(crossed)
                crossed &= crossed - 1
                for is_link in range(int(shapes.ball[body] < 0.0), 2):  # a base, and links
                    begin = shapes.first_link[body] if is_link else body
                    end = shapes.first_link[body + 1] if is_link else body + 1
                    for frame in range(begin, end, LANES):
                        touched = _touched(segment, memory.ball, frame) & _first_bits(end - frame)
                        while touched != 0:
                            link = frame + lowest_bit(touched)
                            touched &= touched - 1
                            ray_links[count, 0], ray_links[count, 1] = i, link
                            count += 1
                            if count == len(ray_links):
                                return UNDECIDED
                            is_new = not memory.known[link] and not memory.wanted[link]
                            memory.wanted[link], wanted = memory.wanted[link] or is_new, wanted + is_new
    ray_links[count, 0] = NO_RAY
    for body in range(len(memory.near)):
        memory.read[body] = shapes.centred[body] and memory.often[body] >= OFTEN
    return wanted


@inlined
def _first_bits(count: int) -> int:
    """Bit mask of the first `count` lanes, or of all lanes."""
    return (1 << min(count, LANES)) - 1


@inlined
def _touched(segment: Segment, balls: Rows[np.float64], first: int) -> int:
    """Bit mask of eight balls, from `first` on, that a segment comes near; never one of a negative radius."""
    radius = load(balls, 3 * balls.shape[1] + first)
    return movemask((radius >= 0.0) & are_within(square_distance(segment, _three(balls, first)), segment, radius))


@inlined
def _surround(shapes: NearShapes, body: int, memory: NearMemory, longest: float) -> bool:
    """Write balls that contain the links of a body, and a box; returns whether the frames that were read are finite.

    The box includes the slack for segments whose coordinates are at most `longest`.
    """
    limits, total, links = memory.limits[:, body], 0.0, shapes.first_link[body + 1] - shapes.first_link[body]
    for axis in range(3):
        limits[axis], limits[3 + axis] = inf, -inf
    for link in range(-1, links):
        frame = body if link < 0 else shapes.first_link[body] + link
        place, room = memory.frames[frame], 0.0
        memory.known[frame] = frame < shapes.first_rest[body]
        if not memory.known[frame]:
            room = shapes.arms[frame, 9]
            if not _write_place(shapes, memory, frame):
                return False
        elif link >= 0 or not shapes.bare[body]:
            total += abs(place[0] + place[1] + place[2] + place[3] + place[4] + place[5] + place[6])
        radius = shapes.ball[frame] + room
        memory.ball[3, frame] = with_slack(radius, size_of(place[0], place[1], place[2]))
        for axis in range(3):
            memory.ball[axis, frame] = place[axis]
            limits[axis], limits[3 + axis] = (
                min(limits[axis], place[axis] - radius),
                max(limits[3 + axis], place[axis] + radius),
            )
    for axis in range(3):
        slack = SLACK * (longest + abs(limits[axis]) + abs(limits[3 + axis]))
        limits[axis], limits[3 + axis] = limits[axis] - slack, limits[3 + axis] + slack
    return total < inf


@inlined
def _joint_of(frame: Float64Array, arms: Float64Array, first: int) -> Vector:
    """The place of a joint in the world, from a frame and the place in it, three numbers of `arms`."""
    x, y, z = rotated((frame[3], frame[4], frame[5], frame[6]), (arms[first], arms[first + 1], arms[first + 2]))
    return x + frame[0], y + frame[1], z + frame[2]


@inlined
def _write_place(shapes: NearShapes, memory: NearMemory, frame: int) -> bool:
    """Write the approximate place of a link between two joints; False if their distance is not that in the link.

    `resetBasePositionAndOrientation` takes quaternions of any length, which stretches bodies until the next step.
    """
    arms, place = shapes.arms[frame], memory.frames[frame]
    a = _joint_of(memory.frames[shapes.holders[frame, 0]], arms, 1)
    b = _joint_of(memory.frames[shapes.holders[frame, 1]], arms, 4)
    square, share = 0.0, arms[0]
    for axis in range(3):
        square += (b[axis] - a[axis]) * (b[axis] - a[axis])
        place[axis] = (1.0 - share) * a[axis] + share * b[axis]
    return bool(abs(sqrt(square) - arms[7]) <= arms[8] + SLACK * size_of(place[0], place[1], place[2]))
