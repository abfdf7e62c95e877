"""Boxes that hold limbs wherever they are between two recorded states.

A limb lies in a ball about each point of its axis. Where its ends go straight, so do the centres of these balls: the
boxes at both ticks hold them all. Where a bone carries it, a point at distance ρ from the bone's origin goes along an
arc by an angle θ, while the origin goes straight: by normalised linear interpolation it is never farther than
ρ (1 - cos ½θ) from the straight way between its ends (`docs/numerics.md`, "Between two ticks"), and cos ½θ is the
magnitude of the scalar product of both unit quaternions.
"""

from cylcollide._types import Float64Array, Int32Array
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.kernels.recorded import (
    BONE,
    CHARACTER_SIZE,
    CODES_SIZE,
    FIRST_BONE,
    FIRST_ROW,
    MODEL,
    NEXT_BONE,
    NEXT_ROW,
    OWNER,
    PER_LENGTH,
    Recorded,
    TickRows,
    bone_turn,
    tick_rows,
)
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.simd import square_root

PAD = 2.0**-40
"""Relative growth of these boxes: all rounding of places and of interpolation is below 2**-45."""


@entry_point(reads_all=True)
def fill_reach_boxes(
    p1: Float64Array,
    p2: Float64Array,
    row: Int32Array,
    reach: Float64Array,
    low: Float64Array,
    high: Float64Array,
    extent: Float64Array,
) -> None:
    """Write boxes around limbs, whichever way they are turned, and the largest coordinate of each character's.

    Parameters
    ----------
    p1, p2
        Ends, (rows, 3).
    row
        Model and character of each, (rows, 2), as in `TickRows`.
    reach
        How far each model goes from its axis, (models,).
    low, high, extent
        Written, (rows, 3) and (characters,).
    """
    for c in range(extent.size):
        extent[c] = 0.0
    for i in range(low.shape[0]):
        size, owner = reach[row[i, MODEL]], row[i, OWNER]
        for axis in range(3):
            a, b = p1[i, axis], p2[i, axis]
            more = size + PAD * (max(abs(a), abs(b)) + size)
            low[i, axis], high[i, axis] = min(a, b) - more, max(a, b) + more
        if owner >= 0:
            largest = max(largest_component(as_vector(low, i)), largest_component(as_vector(high, i)))
            extent[owner] = max(extent[owner], largest)


@entry_point(reads_all=True)
def fill_bones(positions: Float64Array, orientations: Float64Array, bones: Float64Array) -> None:
    """Write bones, (n, 3) and (n, 4), into the first n rows of those of a tick."""
    for i in range(positions.shape[0]):
        for axis in range(3):
            bones[i, axis] = positions[i, axis]
        square = 0.0
        for axis in range(4):
            bones[i, 3 + axis] = orientations[i, axis]
            square += orientations[i, axis] * orientations[i, axis]
        bones[i, PER_LENGTH] = 1.0 / square_root(square)


@entry_point(reads_all=True)
def sweep_boxes(
    recorded: Recorded,
    span: Float64Array,
    here_low: Float64Array,
    here_high: Float64Array,
    there_low: Float64Array,
    there_high: Float64Array,
    low: Float64Array,
    high: Float64Array,
) -> None:
    """Write boxes around limbs wherever they are between two ticks.

    Parameters
    ----------
    recorded
        Both ticks, and no other.
    span
        How far the axis of each model is from the origin of its bone at most, (models,).
    here_low, here_high, there_low, there_high
        Boxes at both ticks, as `fill_reach_boxes` writes them.
    low, high
        Written, (rows, 3), the rows of the first tick.
    """
    here, there = tick_rows(recorded, 0), tick_rows(recorded, 1)
    for i in range(low.shape[0]):
        far, arc, owner = i, 0.0, here.row[2 * i + OWNER]
        if owner >= 0:
            base = CHARACTER_SIZE * owner
            far = here.character[base + NEXT_ROW]
            if far >= 0:
                far += i - here.character[base + FIRST_ROW]
                if not recorded.by_ends:
                    model = here.row[2 * i + MODEL]
                    arc = span[model] * turned(here, there, base, here.codes[CODES_SIZE * model + BONE])
        for axis in range(3):
            smallest, largest = here_low[i, axis], here_high[i, axis]
            if far >= 0:
                smallest, largest = min(smallest, there_low[far, axis]), max(largest, there_high[far, axis])
            more = arc + PAD * (max(abs(smallest), abs(largest)) + arc)
            low[i, axis], high[i, axis] = smallest - more, largest + more


@inlined
def turned(here: TickRows, there: TickRows, base: int, bone: int) -> float:
    """1 - cos ½θ for the angle by which a bone of a character turns to the next tick; at least 2**-40."""
    a, b = here.character[base + FIRST_BONE] + bone, here.character[base + NEXT_BONE] + bone
    p, q = bone_turn(here.bones, a), bone_turn(there.bones, b)
    m, n = here.bones[a, PER_LENGTH], there.bones[b, PER_LENGTH]
    cosine = (p[0] * m) * (q[0] * n) + (p[1] * m) * (q[1] * n) + (p[2] * m) * (q[2] * n) + (p[3] * m) * (q[3] * n)
    return float(max(1.0 - abs(cosine), 0.0) + PAD)
