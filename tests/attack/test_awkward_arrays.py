"""Arguments from a grammar of awkward arrays: the answer of the plain array, or a sentence; never anything else."""

import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import sized

import cylcollide as cc

pytestmark = pytest.mark.attack

Plain = NDArray[np.float64]
ROWS = 6


class Subclass(np.ndarray):
    """An array of another type."""


class Frame:
    """What a table of another library is to numpy: something that makes itself an array."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, np.shape(array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.array, dtype)

    def __len__(self) -> int:
        return len(self.array)


class Exporter:
    """An object with the array interface alone."""

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)
        self.__array_interface__ = self.array.__array_interface__


class Broken:
    """An object that fails to make itself an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("no array")


def strided(array: Plain) -> Plain:
    """Every second row and column of a larger array."""
    wide = np.full([2 * size for size in array.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]


def mapped(array: Plain) -> Plain:
    """The same in a file that is mapped into memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        array.tofile(path)
        return np.memmap(path, array.dtype, "r", shape=array.shape) if array.size else array


def unaligned(array: Plain) -> Plain:
    """The same at an address that is not a multiple of eight."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    shifted = np.ndarray(array.shape, array.dtype, memory, 1)
    shifted[...] = array
    return shifted


def with_entry(value: Any) -> Callable[[Plain], Any]:
    """The same with one entry replaced, as an array of objects."""

    def spoiled(array: Plain) -> Any:
        rows = array.astype(object)
        rows.reshape(-1)[array.size // 2 :][:1] = [value]
        return rows

    return spoiled


def masked(array: Plain) -> Any:
    """The same with an entry masked."""
    hidden = np.ma.MaskedArray(array.copy(), mask=np.zeros(array.shape, bool))
    if array.size:
        hidden.reshape(-1)[array.size // 2 :][:1] = np.ma.masked
    return hidden


SAME: dict[str, Callable[[Plain], Any]] = {
    "as it is": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "unaligned": unaligned,
    "big endian": lambda a: a.astype(">f8"),
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "memory map": mapped,
    "subclass": lambda a: a.view(Subclass),
    "matrix": lambda a: a.view(np.matrix) if a.ndim == 2 else a,
    "masked nowhere": np.ma.MaskedArray,
    "list": np.ndarray.tolist,
    "tuple": lambda a: tuple(map(tuple, a.tolist())) if a.ndim == 2 else tuple(a.tolist()),
    "list of arrays": lambda a: list(a) if a.ndim else a,
    "objects": lambda a: a.astype(object),
    "fractions": lambda a: np.array([Fraction(x) for x in a.flat], object).reshape(a.shape),
    "long doubles": lambda a: a.astype(np.longdouble),
    "frame": Frame,
    "array interface": Exporter,
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)) if a.size else a,
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "integers": lambda a: a.astype(np.int64) if (a == np.round(a)).all() else a,
    "small integers": lambda a: a.astype(np.int8) if (a == np.round(a)).all() else a,
}
"""Forms of the same numbers, which are eighths of small integers: the answer must be the same."""

WRONG: dict[str, Callable[[Plain], Any]] = {
    "masked": masked,
    "list of masked rows": lambda a: list(masked(a)) if a.ndim else masked(a),
    "complex": lambda a: a + 1j,
    "bool": lambda a: a > 0,
    "text": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S"),
    "dates": lambda a: a.astype("M8[s]"),
    "durations": lambda a: a.astype("m8[s]"),
    "records": lambda a: np.zeros(a.shape, "f8,f8"),
    "void": lambda a: np.zeros(a.shape, "V8"),
    "more dimensions": lambda a: a[..., None, None],
    "no dimensions": lambda a: np.array(3.5) if a.ndim == 2 else np.zeros((2, 2)),
    "empty": lambda a: np.zeros((0, 2)),
    "endless": lambda a: np.broadcast_to(np.float64(1.0), (2**40, 4)),
    "flat": lambda a: np.zeros(5 * a.size + 4),
    "uneven": lambda a: [[1.0, 2.0, 3.0], [1.0]],
    "deep": lambda a: [[[[a.tolist()]]]],
    "dict": lambda a: dict(enumerate(a.tolist())),
    "set": lambda a: set(a.flat),
    "generator": lambda a: (row for row in a.tolist()),
    "broken": lambda a: Broken(),
    "function": lambda a: np.zeros,
    "none": lambda a: None,
    "decimals": with_entry(Decimal(1)),
    "a none": with_entry(None),
    "a text": with_entry("1"),
    "a list": with_entry([1.0]),
    "a long integer": with_entry(10**400),
    "a finer fraction": with_entry(Fraction(1, 3)),
    "a masked entry": with_entry(np.ma.masked),
    "nan": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, np.nan, a),
    "inf": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, -np.inf, a),
    "huge": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, 1e200, a),
    "negative huge": lambda a: (a - 1e308).tolist(),
    "long doubles beyond": lambda a: a.astype(np.longdouble) * np.longdouble(2) ** 3000 + np.longdouble(2) ** 4000,
    "finer long doubles": lambda a: a.astype(np.longdouble) + np.longdouble(2) ** -60,
}
"""Forms that no argument has: a sentence, or an answer where a form happens to be allowed."""


@cache
def world() -> cc.HitWorld:
    """Six limbs that do not change."""
    return cc.HitWorld(mixed(ROWS).limbs())


def answer_of(result: Any) -> list[Any]:
    """All arrays of an answer."""
    fields = {
        cc.RayHits: ("limb", "fraction", "face", "position", "normal", "exit_position", "thickness", "character"),
        cc.Chords: ("offsets", "limb", "entry_fraction", "exit_fraction", "thickness"),
        cc.PointHits: ("limb", "count", "axis_distance_squared"),
        cc.Limbs: ("kind", "p1", "p2", "radius", "radius2", "box_axes", "half_extents", "character", "mask"),
    }
    names = fields.get(type(result))
    return [np.array(result)] if names is None else [np.array(getattr(result, name)) for name in names]


def moved(p1: Any, p2: Any, limbs: Any = None) -> cc.Limbs:
    """Where limbs are after an update of a world."""
    own = cc.HitWorld(cc.Limbs.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0))
    before = own.limbs
    try:
        own.set_endpoints(p1, p2, limbs)
    except Exception:
        assert own.limbs is before
        raise
    return own.limbs


L = cc.Limbs
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "cylinders": (L.cylinders, ("place", "end", "size")),
    "tubes": (lambda a, b, r: L.tubes(a, b, r, 0.0625), ("place", "end", "size")),
    "tapered cylinders": (L.tapered_cylinders, ("place", "end", "size", "size")),
    "cones": (L.cones, ("place", "end", "size")),
    "ellipsoids": (L.ellipsoids, ("place", "end", "size")),
    "capsules": (L.capsules, ("place", "end", "size")),
    "spheres": (L.spheres, ("place", "size")),
    "boxes": (L.boxes, ("place", "turn", "end")),
    "labels": (lambda c, m, h: L.spheres(np.ones((ROWS, 3)), 1.0, character=c, mask=m, hit_group=h), ("index",) * 3),
    "inflated": (world().limbs.inflated, ("eighth",)),
    "set_endpoints": (moved, ("place", "end")),
    "set_endpoints of some": (moved, ("place", "end", "index")),
    "moved": (lambda a, b: L.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0).moved(a, b), ("place", "end")),
    "classify_points": (world().limbs.classify_points, ("place",)),
    "axis_distance_squared": (world().limbs.axis_distance_squared, ("place",)),
    "limbs.cast_segments": (world().limbs.cast_segments, ("place", "end")),
    "limbs.cast_rays": (world().limbs.cast_rays, ("place", "end", "size")),
    "contains_points": (world().contains_points, ("place",)),
    **{
        f"{what}_segments": (
            lambda a, b, m, i, what=what: getattr(world(), f"{what}_segments")(a, b, mask=m, ignore_character=i),
            ("place", "end", "index", "index"),
        )
        for what in ("cast", "occluded", "chords")
    },
    **{
        f"{what}_rays": (lambda a, b, d, what=what: getattr(world(), f"{what}_rays")(a, b, d), ("place", "end", "size"))
        for what in ("cast", "occluded", "chords")
    },
}
"""Every public function that takes arrays, and what each argument is."""

row = np.arange(ROWS, dtype=float)
GOOD: dict[str, Plain] = {
    "place": np.column_stack([row - 3, 0.5 * row, 0.25 - row]),
    "end": np.column_stack([row + 1, 3 + 0.5 * row, 2 + row]),
    "size": 0.5 + 0.125 * row,
    "eighth": 0.0 * row + 0.015625,
    "turn": np.column_stack([row - 3, 0.5 * row, 0 * row + 1, row]),
    "index": row,
}


OF_INTEGERS = {
    *("as it is", "Fortran", "reversed", "subclass", "masked nowhere", "list", "tuple", "list of arrays", "objects"),
    *("frame", "array interface", "memoryview", "integers", "small integers"),
}
"""Forms that keep integers."""


def form_of(name: str, kind: str, array: Plain) -> Any:
    """One argument in a form; an index is an integer in every form that keeps the numbers."""
    if kind == "index" and name in SAME:
        whole: Any = array.astype(np.int64)
        return SAME[name](whole) if name in OF_INTEGERS else whole
    return (WRONG | SAME)[name](array)


forms = st.sampled_from(sorted(SAME)) | st.sampled_from(sorted(WRONG))
calls = st.sampled_from(sorted(CALLS)).flatmap(
    lambda call: st.tuples(st.just(call), st.tuples(*[forms] * len(CALLS[call][1])))
)


def check(call: str, names: tuple[str, ...]) -> None:
    """The answer equals that of plain arrays if all forms keep the numbers; else it may be an error with a sentence."""
    function, kinds = CALLS[call]
    arguments = [form_of(name, kind, GOOD[kind]) for name, kind in zip(names, kinds, strict=True)]
    plain = [GOOD[kind].astype(np.int64) if kind == "index" else GOOD[kind] for kind in kinds]
    before = answer_of(world().limbs)
    try:
        answer = function(*arguments)
    except (ValueError, TypeError) as error:
        refused: Exception | None = error
    else:
        refused = None
    if refused is not None:
        assert set(names) & set(WRONG), (call, names, refused)
        assert type(refused) is ValueError, (call, names, refused)
        assert ": expected " in str(refused), (call, names, refused)
    elif not set(names) & set(WRONG):
        for got, want in zip(answer_of(answer), answer_of(function(*plain)), strict=True):
            assert got.dtype == want.dtype
            assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), (call, names)
    for got, want in zip(answer_of(world().limbs), before, strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", [*SAME, *WRONG])
def test_every_form_in_every_place(name: str):
    for call, (_, kinds) in CALLS.items():
        for place in range(len(kinds)):
            check(call, tuple(name if k == place else "as it is" for k in range(len(kinds))))


@settings(max_examples=sized(300))
@given(calls)
def test_forms_together(asked: tuple[str, tuple[str, ...]]):
    check(*asked)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=50_000)
@given(calls)
def test_forms_together_for_long(asked: tuple[str, tuple[str, ...]]):
    check(*asked)
