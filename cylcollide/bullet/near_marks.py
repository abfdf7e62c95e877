"""Loops that mark what a few rays come near: bodies, by their bases, and links, by those that are read first."""

from math import inf, sqrt

from cylcollide._types import Float64Array
from cylcollide.bones.frames import rotated
from cylcollide.bullet.near_loops import NO_RAY, UNDECIDED, NearMemory, NearShapes
from cylcollide.bullet.near_segments import (
    SLACK,
    crosses,
    is_within,
    segment_at,
    size_of,
    slope_of,
    square_distance,
)
from cylcollide.kernels.double_double import Vector
from cylcollide.runtime.compile import compiled_loop, inlined

OFTEN = 4
"""After so many ray tests near a body, it is read without a look at the box of its base."""


LINKS_FIRST = -2
"""In place of a count: links that are marked as unread are to be read first."""


@compiled_loop
def mark_near(shapes: NearShapes, memory: NearMemory, n: int, by_bases: bool) -> int:
    """Mark bodies that the first n segments come near, by their bases, and links, by those of them that were read.

    Returns how many links are marked as wanted, which are still to be read; LINKS_FIRST, after which the same is asked
    again, not by bases; UNDECIDED for a plane that has moved, frames that are not finite, or too many pairs.
    """
    if by_bases:
        unread = _mark_bodies(shapes, memory, n)
        if unread != 0:
            return LINKS_FIRST if unread > 0 else UNDECIDED
    return _mark_links(shapes, memory, n)


@inlined
def _mark_bodies(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Mark what the first n segments come near, by bodies' bases; of how many links are to be read, or UNDECIDED.

    A base is in `memory.frames`, or is the centre of a box in `memory.around`, which has all of its shapes as they are.
    A body that was read at once counts as near. A wrapped link is where it is once any link of its body was read.
    """
    starts, ends, places = memory.batch.rays.origin, memory.batch.rays.second, memory.place
    longest, unread = 0.0, 0
    for k in range(len(shapes.plane_at)):
        for axis in range(shapes.plane_bits.shape[1]):
            if memory.bits[shapes.plane_at[k], axis] != shapes.plane_bits[k, axis]:
                return UNDECIDED
    for body in range(len(memory.near)):
        box, is_read, out, square = memory.around[body], memory.read[body] > 0, 0.0, 0.0
        by_link, by_box = is_read and shapes.bare[body], shapes.centred[body] and not is_read
        frame = memory.frames[shapes.first_link[body] if by_link else body]  # a link that was read is about there
        for slide in range(shapes.first_slide[body], shapes.first_slide[body + 1]):
            out += shapes.stretch * abs(memory.slides[slide, 0])
        for axis in range(3):
            places[body, axis] = 0.5 * (box[axis] + box[3 + axis]) if by_box else frame[axis]
            square += 0.25 * (box[3 + axis] - box[axis]) * (box[3 + axis] - box[axis])
        beyond = sqrt(square) + shapes.grown - shapes.reach[body]
        memory.out[body] = beyond if by_box and beyond > out else out
        memory.square[body], memory.near[body] = inf, False
    for i in range(n):
        segment = segment_at(starts, ends, i)
        longest = max(longest, segment[3])
        for body in range(len(memory.near)):
            if memory.read[body] > 0 and memory.near[body] and shapes.first_box[body] == shapes.first_box[body + 1]:
                continue
            place, square = places[body], square_distance(segment, places[body])
            memory.square[body] = min(memory.square[body], square if square >= 0.0 else 0.0)
            largest, reach = segment[3] + size_of(place[0], place[1], place[2]), shapes.reach[body] + memory.out[body]
            memory.pairs[i, body] = is_within(square, largest, reach)
            memory.near[body] = memory.near[body] or memory.pairs[i, body]
    for body in range(len(memory.near)):
        is_near, is_read, box, wrapped = memory.near[body], memory.read[body] > 0, shapes.first_box[body], 0
        square, largest = memory.square[body], longest + size_of(places[body, 0], places[body, 1], places[body, 2])
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
def _mark_links(shapes: NearShapes, memory: NearMemory, n: int) -> int:
    """Write which links of near bodies the first n segments may come near, and which of these are to be read; how many.

    UNDECIDED for frames that are not finite, or too many pairs.
    """
    starts, ends, met = memory.batch.rays.origin, memory.batch.rays.second, memory.met
    count, wanted, longest = 0, 0, 0.0
    memory.wanted[:] = False
    for i in range(n):
        longest = max(longest, segment_at(starts, ends, i)[3])
    for body in range(len(memory.near)):
        if memory.near[body] and not _surround(shapes, body, memory, longest):
            return UNDECIDED
    for i in range(n):
        segment = segment_at(starts, ends, i)
        slopes = slope_of(segment[1][0]), slope_of(segment[1][1]), slope_of(segment[1][2])
        for body in range(len(memory.near)):
            is_pair = memory.near[body] and (memory.read[body] > 0 or memory.pairs[i, body])
            if not is_pair or not crosses(segment, slopes, memory.around[body]):
                continue
            links = shapes.first_link[body + 1] - shapes.first_link[body]
            for link in range(-1, links):
                frame = body if link < 0 else shapes.first_link[body] + link
                place, ball = memory.frames[frame], shapes.ball[frame]
                ball += 0.0 if memory.known[frame] else shapes.arms[frame, 9]
                largest = segment[3] + size_of(place[0], place[1], place[2])
                if ball >= 0.0 and is_within(square_distance(segment, place), largest, ball):
                    met[count, 0], met[count, 1] = i, frame
                    count += 1
                    if count == len(met):
                        return UNDECIDED
                    is_new = not memory.known[frame] and not memory.wanted[frame]
                    memory.wanted[frame], wanted = memory.wanted[frame] or is_new, wanted + is_new
    met[count, 0] = NO_RAY
    for body in range(len(memory.near)):
        memory.read[body] = shapes.centred[body] and memory.often[body] >= OFTEN
    return wanted


@inlined
def _surround(shapes: NearShapes, body: int, memory: NearMemory, longest: float) -> bool:
    """Write where the links of a body may be, and a box around them; whether the frames that were read are finite.

    The box is larger by the slack for segments whose coordinates are at most `longest`.
    """
    around, total, links = memory.around[body], 0.0, shapes.first_link[body + 1] - shapes.first_link[body]
    for axis in range(3):
        around[axis], around[3 + axis] = inf, -inf
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
        for axis in range(3):
            around[axis] = min(around[axis], place[axis] - (shapes.ball[frame] + room))
            around[3 + axis] = max(around[3 + axis], place[axis] + (shapes.ball[frame] + room))
    for axis in range(3):
        slack = SLACK * (longest + abs(around[axis]) + abs(around[3 + axis]))
        around[axis], around[3 + axis] = around[axis] - slack, around[3 + axis] + slack
    return total < inf


@inlined
def _joint_of(frame: Float64Array, arms: Float64Array, first: int) -> Vector:
    """The place of a joint in the world: a frame, and three of the numbers in `arms`."""
    x, y, z = rotated((frame[3], frame[4], frame[5], frame[6]), (arms[first], arms[first + 1], arms[first + 2]))
    return x + frame[0], y + frame[1], z + frame[2]


@inlined
def _write_place(shapes: NearShapes, memory: NearMemory, frame: int) -> bool:
    """Write about where a link is that two joints hold; False if these are not as far from each other as in the link.

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
