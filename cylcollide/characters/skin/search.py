"""The limb of least volume or surface, of one shape, that covers a share of the skin of a bone.

This is a compass search. From a few starts it tries moves along every coordinate, and along some random directions from
a fixed seed. It takes the best move, and shrinks the steps if none is better. It works in units of the part's own size,
in the bone's own frame, so neither units nor a turn of the whole body change the result beyond rounding.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.sides import Plane
from cylcollide.characters.skin.gauges import Family, FittedLimb, Least

STARTS, DRAWN, MOVES = 3, 12, 60
"""Number of states from which the search descends; of random directions per move; of moves per descent, at most."""


LESS = 1.0 - 1e-9
"""A limb is better if it is smaller by this factor: moves across a plane of symmetry change only rounding errors."""

FEW, MANY = 300, 1500
"""Number of points of a part in the descents from every start, and in the final descent from the best state reached.
The scale is then computed from all points."""

COARSE, FINE = (0.25, 0.02), (0.06, 2e-3)
"""First and last step of these descents: lengths in units of the part's size, angles in radians, logarithms of
proportions."""

LEAST_RATIO, LONGEST = 0.02, 50.0
"""Least and largest ratio of two lengths of a limb."""


class _State(NamedTuple):
    """The limbs that the search compares, k of them."""

    centres: Float64Array  # (k, 3)
    frames: Float64Array  # (k, 3, 3)
    proportions: Float64Array  # (k, m): logarithms of lengths, then slopes


_Sizes = Callable[[_State], Float64Array]


def quantile(values: Float64Array, areas: Float64Array, share: float) -> float:
    """The least value such that values up to it have a given share of the total area."""
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(areas[order])
    return float(values[order[min(np.searchsorted(filled, share * filled[-1]), len(order) - 1)]])


def fit_limb(
    points: Float64Array,
    areas: Float64Array,
    along: Float64Array,
    plane: Plane | None,
    family: Family,
    coverage: float,
    least: Least,
) -> FittedLimb:
    """The limb fitted to one bone's skin, in the frame of the bone.

    The skin is pieces at `points` (n, 3) with `areas` (n,). `along` (3,) is the bone's unit direction, and `plane` the
    plane of symmetry of its skin, if any.
    """
    middle = areas @ points / areas.sum()
    size = float(np.sqrt(areas @ ((points - middle) ** 2).sum(axis=1) / areas.sum()))
    if not size > 0.0:
        raise ValueError("skin: expected the skin of a bone to have an extent, got one point; leave such a bone out")
    own = (points - middle) / size
    if plane is not None:
        plane = Plane(plane.normal, (plane.offset - float(plane.normal @ middle)) / size)
    normal = None if plane is None else plane.normal

    def sizes_over(count: int) -> _Sizes:
        few = own[_spread(areas, count)].T
        rank = min(int(np.ceil(coverage * count)) - 1, count - 1)

        def sizes(state: _State) -> Float64Array:
            """Sizes of the limbs of these states, scaled to the coverage; (k,)."""
            proportions = _plain(state.proportions, family)
            local = np.einsum("ki,kij->kj", state.centres, state.frames)
            x, y, z = (state.frames[:, :, j] @ few - local[:, j, None] for j in range(3))
            scales = np.partition(family.gauge(x, y, z, proportions), rank, axis=1)[:, rank]
            return scales * family.size(proportions, least)

        return sizes

    coarse = sizes_over(FEW)
    starts = _starts(own[_spread(areas, FEW)], along, family, plane)
    order = np.argsort(coarse(starts), kind="stable")[:STARTS]
    ends = [_descend(_State(*(column[[k]] for column in starts)), coarse, COARSE, family, normal) for k in order]
    best = min(ends, key=lambda state: float(coarse(state)[0]))
    end = _descend(best, sizes_over(MANY), FINE, family, normal)
    solid = FittedLimb(family, size * end.centres[0] + middle, end.frames[0], _plain(end.proportions, family)[0], 1.0)
    return replace(solid, scale=quantile(solid.gauge(points), areas, coverage))


def _spread(areas: Float64Array, count: int) -> Int64Array:
    """Rows of pieces, evenly spaced by area. The golden-ratio offset is no multiple of an area, which avoids ties."""
    filled = np.cumsum(areas)
    rows = np.searchsorted(filled, (np.arange(count) + 0.381966) / count * filled[-1])
    return np.asarray(np.minimum(rows, len(areas) - 1))


def _plain(proportions: Float64Array, family: Family) -> Float64Array:
    """Lengths and slopes from the search variables, logarithms of lengths and slopes; (k, m)."""
    lengths = np.clip(np.exp(proportions[:, : family.aspects]), LEAST_RATIO, LONGEST)
    return np.hstack([lengths, np.clip(proportions[:, family.aspects :], -1.0, 1.0)])


def _starts(points: Float64Array, along: Float64Array, family: Family, plane: Plane | None) -> _State:
    """Start limbs at the centre of the points' extent, along the bone and along the principal axes."""
    axes = np.linalg.eigh(points.T @ points)[1]
    axes *= np.where(((points @ axes) ** 3).sum(axis=0) < 0.0, -1.0, 1.0)  # the points decide the signs
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    frames = [_frame_along(along, axes)]
    frames += [np.roll(axes, shift, axis=1) for shift in range(3)]
    if plane is not None:
        normal, offset = plane.normal, plane.offset
        inside = [axis - normal * (normal @ axis) for axis in (along, *axes.T)]
        first = max(inside, key=lambda axis: round(float(axis @ axis), 6))
        frames = [_frame_along(normal, axes)]
        for axis in (first, np.cross(normal, first)):
            z = axis / np.linalg.norm(axis)
            frames += [
                np.stack([normal, np.cross(z, normal), z], axis=1),
                np.stack([z, normal, np.cross(z, normal)], 1),
            ]
    state = np.stack(frames)
    local = np.matmul(points, state)  # (k, n, 3)
    low, high = np.quantile(local, (0.02, 0.98), axis=1)
    centres = np.einsum("kij,kj->ki", state, (low + high) / 2.0)
    if plane is not None:
        centres -= np.outer(centres @ normal - offset, normal)
    half = np.maximum((high - low) / 2.0, 1e-3)
    lengths = half[:, :2] / half[:, 2:] if family.aspects == 2 else half[:, 2:] / half[:, :2].mean(axis=1)[:, None]
    lengths = np.log(np.clip(lengths, LEAST_RATIO, LONGEST))[:, : family.aspects]
    return _State(centres, state, np.hstack([lengths, np.zeros((len(state), family.slopes))]))


def _frame_along(axis: Float64Array, others: Float64Array) -> Float64Array:
    """A right-handed frame with the unit axis last; first, the perpendicular part of the other least parallel to it."""
    across = others[:, int(np.abs(axis @ others).argmin())]
    x = across - (across @ axis) * axis
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def _descend(
    state: _State, sizes: _Sizes, steps: tuple[float, float], family: Family, normal: Float64Array | None
) -> _State:
    """The best limb reached by descent from one state; `steps`: the first and the last step."""
    rng = np.random.default_rng(0)
    columns = 3 + family.turns + family.aspects + family.slopes
    size, (step, last_step) = float(sizes(state)[0]), steps
    for _ in range(MOVES):
        moves = np.vstack([np.eye(columns), -np.eye(columns), rng.normal(0.0, 0.5, (DRAWN, columns))]) * step
        tried = _moved(state, moves, normal, family)
        found = sizes(tried)
        best = int(found.argmin())
        if found[best] < LESS * size:
            size, state = float(found[best]), _State(*(column[[best]] for column in tried))
            step = min(1.5 * step, steps[0])
        else:
            step /= 2.0
            if step < last_step:
                break
    return state


def _moved(state: _State, moves: Float64Array, normal: Float64Array | None, family: Family) -> _State:
    """A state after each of the moves: of the centre, of the frame about its own axes, and of the proportions."""
    frame, turns = state.frames[0], family.turns
    shift, turn, change = moves[:, :3] @ frame.T, moves[:, 3 : 3 + turns] @ frame[:, :turns].T, moves[:, 3 + turns :]
    if normal is not None:
        shift = shift - np.outer(shift @ normal, normal)
        turn = np.outer(turn @ normal, normal)
        if abs(float(frame[:, 2] @ normal)) > 0.5:  # a symmetric limb across the plane has equal ends
            change = np.hstack([change[:, : family.aspects], np.zeros((len(moves), family.slopes))])
    return _State(state.centres + shift, np.matmul(_turns(turn), state.frames), state.proportions + change)


def _turns(vectors: Float64Array) -> Float64Array:
    """Rotation matrices (k, 3, 3) about vectors (k, 3) by about their lengths: Cayley transforms (orthogonal)."""
    half = vectors / 2.0
    zero = np.zeros(len(half))
    x, y, z = half.T
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    return np.asarray(np.linalg.solve(np.eye(3) - skew, np.eye(3) + skew))
