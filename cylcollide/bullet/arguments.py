"""Checks of PyBullet's arguments: ValueError where PyBullet raises TypeError or OverflowError, or reports a miss."""

from __future__ import annotations

from operator import index
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, InsidePolicy
from cylcollide.bullet.tuples import read_rows
from cylcollide.query.request import as_pairs

SMALLEST, LARGEST = -(2**31), 2**31 - 1
"""The range of PyBullet's integers."""

MeshPolicy: TypeAlias = Literal["raise", "skip", "wrap"]

BULLET: Final = "bullet"
MirrorInside: TypeAlias = InsidePolicy | Literal["bullet"]
"""How a ray treats a shape in which it starts."""

MirrorOptions: TypeAlias = tuple[MeshPolicy | None, MirrorInside, float]
"""Mesh, inside, tolerance."""

RayOptions: TypeAlias = tuple[int, int, int]
"""Threads (below 1: the number of processors), mask of 32 layers, and number of the hit from 0 (below 0: the first)."""


ONE, NOT_GIVEN, NO_EPSILON = 1, -1, -1.0
"""Default values of `rayTestBatch`. They are compared by identity, and then not checked, because checks are slow."""

PLAIN: Final[RayOptions] = 1, ALL_LAYERS, -1
"""The options of a ray test without any given."""


def ray_options(threads: int, mask: int, number: int, client: int | None, own: int) -> RayOptions:
    """The options of both of PyBullet's ray tests, checked; `client` must be the mirror's own, or None."""
    if client is not None and client != own:
        raise ValueError(f"physicsClientId: expected {own}, got {client}; make a Mirror of that client")
    return integer(threads, "numThreads"), layers(mask, "collisionFilterMask"), integer(number, "reportHitNumber")


def integer(value: Any, name: str, largest: int = LARGEST) -> int:
    """A whole number from -2**31 to `largest`; ValueError for all else."""
    try:
        number = index(value)
    except TypeError:
        number = LARGEST + ALL_LAYERS  # beyond any limit
    if not SMALLEST <= number <= largest:
        raise ValueError(
            f"{name}: expected a whole number from {SMALLEST} to {largest}, got {value!r}; leave it out for the default"
        )
    return number


def layers(value: Any, name: str) -> int:
    """32 bits, given as a signed number, as PyBullet takes them, or as an unsigned one."""
    return integer(value, name, ALL_LAYERS) & ALL_LAYERS


def real(value: Any, name: str) -> float:
    """A real number; ValueError for all else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a real number, got {value!r}; leave it out for the default") from None


def mirror_options(mesh: MeshPolicy | None, inside: MirrorInside, tolerance: float) -> MirrorOptions:
    """The checked options; ValueError for unknown policies, and for a tolerance that is no length."""
    validate.one_of(inside, "inside", "hit", "exit", "ignore", BULLET)
    if mesh is not None:
        validate.one_of(mesh, "mesh", "wrap", "raise", "skip")
    return mesh, inside, growth(tolerance, "tolerance")


def growth(value: Any, name: str) -> float:
    """A length of at least 0; ValueError for all else."""
    return float(validate.sizes_or_zero(validate.per_row(value, name, 1), name)[0])


def are_rows(values: Any) -> bool:
    """Whether PyBullet may read the values as vectors: an array of numbers, or a list or tuple of sequences."""
    if isinstance(values, np.ndarray):
        return bool(values.dtype != object)
    return isinstance(values, (list, tuple)) and (not values or hasattr(values[0], "__len__"))


def vectors(values: ArrayLike, name: str, rows: int | None = None) -> Float64Array:
    """Vectors (n, 3), as `validate.as_vectors`, of any numbers; `rows`: the required n, if any.

    Lists and tuples of numbers take a tenth of the time.
    """
    given: Any = values if isinstance(values, (list, tuple)) else ()
    given = (given,) if given and not isinstance(given[0], (list, tuple)) else given
    found = np.empty((len(given), 3))
    if not (given and read_rows(given, found)):
        found = validate.as_vectors(values, name)
    if rows is not None and len(found) != rows:
        raise ValueError(f"{name}: expected {rows} rows, got {len(found)}; rows belong together one by one")
    return found


SegmentArguments: TypeAlias = tuple[Float64Array, Float64Array, int, int | None]
"""Starts and ends, (n, 3) each, mask and threads; not yet checked."""


def mirror_segments(
    starts: ArrayLike, ends: ArrayLike, mask: int = ALL_LAYERS, threads: int | None = None
) -> SegmentArguments:
    """Segments; one start or one end may stand for all."""
    return (*as_pairs(starts, ends, ("starts", "ends")), mask, threads)


def mirror_casts(
    starts: ArrayLike, ends: ArrayLike, mask: int = ALL_LAYERS, threads: int | None = None, *, radius: ArrayLike = 0.0
) -> tuple[SegmentArguments, ArrayLike]:
    """Segments and their radii."""
    return mirror_segments(starts, ends, mask, threads), radius
