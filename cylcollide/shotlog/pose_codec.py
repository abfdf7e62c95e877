"""Lossless compression of poses: each bone is predicted from its parent and its own last poses.

The difference of each number from its prediction is kept, as an integer. The prediction uses IEEE products, sums and
square roots only, so it has the same bits on every machine. Numbers that have 24 bits, or are multiples of `ROUNDING`
(`round_poses`), need fewer bytes.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.poses import ROUNDING
from cylcollide.characters.rig import Rig

MOST_UNITS = 2.0**30
"""Largest multiple of ROUNDING in the form "rounded"."""
NUMBERS = 7
"""Numbers per bone: position, orientation."""


@dataclass(frozen=True)
class Form:
    """An encoding of numbers as integers whose differences are small if the numbers are close."""

    to_integers: Callable[[Float64Array], NDArray[Any]]
    to_numbers: Callable[[NDArray[Any]], Float64Array]

    def keeps(self, numbers: Float64Array) -> bool:
        """Whether the encoding keeps every bit of these numbers."""
        return bool((self.to_numbers(self.to_integers(numbers)).view(np.int64) == numbers.view(np.int64)).all())


def _ordinals(bits: NDArray[Any]) -> NDArray[Any]:
    """Bits of floats as integers in the order of the floats; and back."""
    signs: NDArray[Any] = bits >> (8 * bits.itemsize - 1)
    return np.asarray(bits ^ (signs & np.iinfo(bits.dtype).max))


FORMS = {
    "rounded": Form(
        lambda numbers: np.rint(np.clip(numbers / ROUNDING, -MOST_UNITS, MOST_UNITS)).astype(np.int32),
        lambda units: units * ROUNDING,
    ),
    "float32": Form(
        lambda numbers: _ordinals(numbers.astype(np.float32).view(np.int32)),
        lambda integers: _ordinals(integers).view(np.float32).astype(np.float64),
    ),
    "float64": Form(
        lambda numbers: _ordinals(numbers.view(np.int64)), lambda integers: _ordinals(integers).view(np.float64)
    ),
}
"""They are tried in this order; the last one accepts any numbers."""


class PoseCodec:
    """Turns the poses of one call after another into bytes, or back; both need the same sequence of calls."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[Float64Array, Float64Array]] = {}
        """The last two poses of each character: bones relative to their parents, (7, b) each."""

    def reset(self, ids: Sequence[int]) -> None:
        """Delete the last poses of these characters: their next poses are predicted without."""
        for one in ids:
            self._last.pop(one, None)

    def encoded(self, ids: Sequence[int], rigs: Sequence[Rig], numbers: Float64Array) -> tuple[str, bytes]:
        """Form and bytes of poses; `rigs`: that of each character; numbers (7, k, b): positions and orientations."""
        parent = np.array([rig.parents for rig in rigs])
        with np.errstate(all="ignore"):
            local, guess = self._local(ids, numbers.shape[2])
            above = _of_parents(numbers, parent)
            guessed = _finite(_predicted(guess, above, numbers))
            form = next(name for name, one in FORMS.items() if one.keeps(numbers))
            difference = FORMS[form].to_integers(numbers) - FORMS[form].to_integers(guessed)
            self._keep(ids, local, _relative(numbers, above))
        return form, _squeezed(difference)

    def decoded(self, form: str, data: bytes, ids: Sequence[int], rigs: Sequence[Rig]) -> Float64Array:
        """The poses, (7, k, b), from bytes that `encoded` returned."""
        parent = np.array([rig.parents for rig in rigs])
        k, b = parent.shape
        difference = _unsqueezed(data, FORMS[form].to_integers(np.zeros(1)).dtype, (NUMBERS, k, b))
        numbers = np.zeros((NUMBERS, k, b))
        with np.errstate(all="ignore"):
            local, guess = self._local(ids, b)
            for rows, bones in _generations(parent):
                some = np.ascontiguousarray
                above = some(_of_parents(numbers, parent)[:, rows, bones])
                own = some(difference[:, rows, bones])
                numbers[:, rows, bones] = _restored(FORMS[form], own, some(guess[:, rows, bones]), above)
            self._keep(ids, local, _relative(numbers, _of_parents(numbers, parent)))
        return numbers

    def _local(self, ids: Sequence[int], bones: int) -> tuple[Float64Array, Float64Array]:
        """The last poses, and the predicted ones, relative to parents, (7, k, b) each; zeros if there are none."""
        none = np.zeros((NUMBERS, bones))
        pairs = [self._last.get(one, (none, none)) for one in ids]
        last, before = (np.stack([pair[which] for pair in pairs], axis=1) for which in (0, 1))
        return last, 2.0 * last - before

    def _keep(self, ids: Sequence[int], last: Float64Array, now: Float64Array) -> None:
        for row, one in enumerate(ids):
            self._last[one] = now[:, row], (last if one in self._last else now)[:, row]


def _of_parents(numbers: Float64Array, parent: Int64Array) -> Float64Array:
    """The parents of bones, (7, k, b): the world's frame for roots."""
    above: Float64Array = np.take_along_axis(numbers, np.maximum(parent, 0)[None], axis=2)
    is_root = parent < 0
    above[:6, is_root], above[6, is_root] = 0.0, 1.0
    return above


def _relative(numbers: Float64Array, above: Float64Array) -> Float64Array:
    """Bones in the frames of their parents."""
    back = above[3:] * np.array([-1.0, -1.0, -1.0, 1.0]).reshape(4, *[1] * (above.ndim - 1))
    return np.concatenate([_turned(back, numbers[:3] - above[:3]), _product(back, numbers[3:])])


def _predicted(guess: Float64Array, above: Float64Array, numbers: Float64Array) -> Float64Array:
    """The predicted bones; `numbers`: the true ones.

    Of these only the orientations are read, except the component that is predicted to be the largest, which follows
    from the others and the unit length.
    """
    turn = _product(above[3:], guess[3:])
    largest = np.abs(turn).argmax(axis=0)[None]
    square = numbers[3:] * numbers[3:]
    np.put_along_axis(square, largest, 0.0, axis=0)
    rest = (square[0] + square[1]) + (square[2] + square[3])
    follows = np.copysign(np.sqrt(np.maximum(1.0 - rest, 0.0)), np.take_along_axis(turn, largest, axis=0))
    np.put_along_axis(turn, largest, follows, axis=0)
    return np.concatenate([above[:3] + _turned(above[3:], guess[:3]), turn])


def _restored(form: Form, difference: NDArray[Any], guess: Float64Array, above: Float64Array) -> Float64Array:
    """The bones, (7, n), from their differences from the prediction."""
    turn = _finite(_product(above[3:], guess[3:]))
    others = form.to_numbers(form.to_integers(turn) + difference[3:])
    numbers = np.concatenate([np.zeros_like(above[:3]), others])
    guessed = _finite(_predicted(guess, above, numbers))
    return form.to_numbers(form.to_integers(guessed) + difference)


def _generations(parent: Int64Array) -> list[tuple[NDArray[Any], ...]]:
    """Rows and bones (k, b) by depth in the hierarchy, roots first."""
    depth = np.zeros_like(parent)
    for bone in range(parent.shape[1]):
        above = parent[:, bone]
        depth[:, bone] = np.where(above < 0, 0, depth[np.arange(len(parent)), above] + 1)
    return [np.nonzero(depth == one) for one in range(int(depth.max(initial=-1)) + 1)]


def _product(a: Float64Array, b: Float64Array) -> Float64Array:
    """The rotation b followed by a; the first axis has the components."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return np.stack([
        (aw * bx + ax * bw) + (ay * bz - az * by),
        (aw * by + ay * bw) + (az * bx - ax * bz),
        (aw * bz + az * bw) + (ax * by - ay * bx),
        (aw * bw - ax * bx) - (ay * by + az * bz),
    ])  # fmt: skip


def _turned(q: Float64Array, v: Float64Array) -> Float64Array:
    """Vectors turned by quaternions; the first axis has the components."""
    (qx, qy, qz, qw), (x, y, z) = q, v
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return np.stack([
        (x + qw * tx) + (qy * tz - qz * ty),
        (y + qw * ty) + (qz * tx - qx * tz),
        (z + qw * tz) + (qx * ty - qy * tx),
    ])  # fmt: skip


def _finite(numbers: Float64Array) -> Float64Array:
    """The numbers with 0 in place of infinity, and of NaN, whose bits differ between processors."""
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _squeezed(difference: NDArray[Any]) -> bytes:
    """Integers as bytes, few for small ones: byte planes, compressed by run lengths and Huffman codes."""
    folded = (difference << 1) ^ (difference >> (8 * difference.itemsize - 1))
    planes = folded.reshape(-1).view(np.uint8).reshape(-1, difference.itemsize).T
    squeeze = zlib.compressobj(1, strategy=zlib.Z_RLE)
    return squeeze.compress(planes.tobytes()) + squeeze.flush()


def _unsqueezed(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(dtype.itemsize, -1)
    unsigned = np.ascontiguousarray(planes.T).view(f"u{dtype.itemsize}")[:, 0]
    folded = unsigned.view(dtype)
    return np.asarray((unsigned >> np.uint8(1)).view(dtype) ^ -(folded & 1)).reshape(shape)
