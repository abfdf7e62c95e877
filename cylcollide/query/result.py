"""The base of all results: columns computed on demand, rows, times in the past, tables, files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from inspect import isfunction
from math import prod
from operator import methodcaller
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.process.files import Columns
from cylcollide.process.signatures import NO_CONSTRUCTOR, Shown
from cylcollide.query import tables
from cylcollide.query.loops.columns import chords_of_rays, ray_of_each
from cylcollide.runtime.memory import frozen

if TYPE_CHECKING:
    import pandas
    import pyarrow

T = TypeVar("T")


class Field(Generic[T]):
    """A read-only column of a result; `_columns` of the result holds those that are already computed.

    `by` names the method of the result that computes this column, with others, when the first of them is read.
    """

    def __init__(self, doc: str, by: str = "") -> None:
        self.__doc__ = doc
        self._complete: Callable[[Any], Columns] = methodcaller(by)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: Any, owner: type) -> T: ...
    def __get__(self, result: Any, owner: type) -> Self | T:
        """The column, computed if it is not yet in `_columns`."""
        if result is None:
            return self
        columns: dict[str, Any] = result._columns
        if self._name not in columns:
            columns.update(self._complete(result))
        column: Any = frozen(columns[self._name])
        return column  # type: ignore[no-any-return]

    def __set__(self, result: object, value: object) -> NoReturn:
        """Raise AttributeError."""
        raise AttributeError(f"{type(result).__name__}.{self._name}: cannot be set")


class Computed(Field[T]):
    """Decorate a method: it becomes a column that the method computes when it is first read."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        super().__init__(compute.__doc__ or "")

        def complete(result: Any) -> Columns:
            column: Any = compute(result)
            return {self._name: column}

        self._complete = complete


class Result(metaclass=Shown):
    """The answer of a query, a row per ray or point.

    A slice, a mask or an array of indices chooses rows.
    """

    __signature__ = NO_CONSTRUCTOR

    fields: ClassVar[tuple[str, ...]]
    """Names of the columns with an entry per row, as in tables and files."""
    _what = "hits"  # in messages about rows
    _of_queries: ClassVar[tuple[str, ...]] = ()
    """Names of columns with an entry per query, where rows are compressed."""
    _query_shape: tuple[int, ...] | None = None
    _columns: dict[str, NDArray[Any]]
    """The columns computed so far; `Field` reads them and adds others."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the query: of its starts and ends, or points, without the last axis.

        Rows are in C order, so that `hits.fraction.reshape(hits.shape)` is an image of rays that
        were given as (height, width, 3).
        """
        shape = self._query_shape
        return (self._count,) if shape is None or prod(shape) != self._count else shape

    def _reshaped(self, shape: tuple[int, ...]) -> None:
        """Set the shape of the query."""
        self._query_shape = shape

    @abstractmethod
    def _summary(self) -> str:
        """A summary of the result in one line."""

    def __repr__(self) -> str:
        return tables.as_text(self._summary(), tables.first_rows(self._shown), len(self))

    def _repr_html_(self) -> str:
        return tables.as_html(self._summary(), tables.first_rows(self._shown), len(self))

    @property
    def _shown(self) -> Columns:
        """The first rows of the columns that are printed."""
        return {name: getattr(self, name)[: tables.ROWS_SHOWN] for name in tables.first_names(self.fields)}

    def __eq__(self, other: object) -> bool:
        """Whether both are answers of one kind with equal columns; NaN equals NaN."""
        if not isinstance(other, Result):
            return NotImplemented
        if type(self).__name__ != type(other).__name__:
            return False
        mine, theirs = ({name: getattr(one, name) for name in self._of_queries} for one in (self, other))
        return tables.are_equal(self.to_dict() | mine, other.to_dict() | theirs)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Raise TypeError: a result is many arrays."""
        raise TypeError(f"{type(self).__name__} is no array; use its columns, to_dict(), to_pandas() or save(path)")

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """All columns of `fields` by name."""
        return {name: getattr(self, name) for name in self.fields}

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame of all rows: vectors as three columns, faces and names as categories."""
        return tables.to_pandas(self.to_dict())

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table of all rows: vectors as three columns, faces and names as dictionaries."""
        return tables.to_arrow(self.to_dict())

    def save(self, path: str | PathLike[str]) -> None:
        """Write all columns to an .npz file without pickles; the suffix is added if it is missing."""
        names = "offsets", "rechecked", *self._of_queries
        whole = {name: np.asarray(getattr(self, name), tables.TYPES[name]) for name in names if hasattr(self, name)}
        whole["shape"] = np.array(self.shape, np.int64)
        tables.save(path, type(self).__name__, self.to_dict() | whole)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote: a result of this kind, with its columns and rows.

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If it is damaged, or holds another kind of result.
        """
        of_queries = ("offsets", *cls._of_queries) if hasattr(cls, "offsets") else ()
        columns = tables.load(path, cls.__name__, cls.fields, of_queries)
        shape = columns.pop("shape", None)
        result = read_from_file(cls, columns)
        if shape is not None:
            result._reshaped(tuple(shape.tolist()))
        return result  # type: ignore[no-any-return]

    @property
    def _count(self) -> int:
        """How many rows can be chosen."""
        return len(self)

    @abstractmethod
    def _take(self, rows: Int64Array) -> Self:
        """The given rows, without times."""

    def __getitem__(self, rows: Any) -> Self:
        """The rows that an index, a slice, a mask or an array of indices chooses."""
        return self._take(chosen_rows(rows, self._count, self._what))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over single rows, or over the rows of single rays."""
        return (self[i] for i in range(self._count))


class TimedResult(Result):
    """The answer of a query about the present or the past.

    Results of a `PoseHistory` also have `time`, `tick`, `alpha` and `clamped` of each row, and
    `present_position()` where they have positions; others raise AttributeError.
    """

    _sample_times: Any = None
    """`history.sample_times.SampleTimes` of the rays or points; None for the present."""
    _present: Callable[..., Float64Array] | None = None

    time = Field[Float64Array]("The time that was judged; (n,).", "_times")
    tick = Field[Int64Array](
        "The last tick that is not after it, -1 for a time that is not kept; int64 (n,).", "_times"
    )
    alpha = Field[Float64Array]("How far it is from that tick to the next, 0 to 1, nan for tick -1; (n,).", "_times")
    clamped = Field[BoolArray]("Whether the requested time was not kept; bool (n,).", "_times")

    def _times(self) -> Columns:
        if self._sample_times is None:
            raise AttributeError(f"{type(self).__name__}: expected a query of a PoseHistory, the present has no ticks")
        return dict(self._sample_times._asdict())

    @property
    def _ray_of_row(self) -> Any:
        """The ray or point of each row."""
        return slice(None)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """All columns of `fields` by name; for the past also `time`, `tick`, `alpha`, `clamped`."""
        columns = super().to_dict()
        if self._sample_times is not None:
            times = self._times()
            columns |= {name: frozen(column[self._ray_of_row]) for name, column in times.items() if name not in columns}
        return columns

    def __getitem__(self, rows: Any) -> Self:
        """The rows that an index, a slice, a mask or an array of indices chooses."""
        chosen = chosen_rows(rows, self._count, self._what)
        part = self._take(chosen)
        return part if self._sample_times is None else part._rewound(self._sample_times.take(chosen), self._present)

    def _rewound(self, times: Any, present: Callable[..., Float64Array] | None) -> Self:
        """Add the times of the rows of a query in the past; returns the result.

        `present` computes the present positions of a result, from the result, its positions, the
        rows of its limbs and their table.
        """
        self._sample_times, self._present = times, present
        return self


def read_from_file(kind: type[Result], columns: dict[str, NDArray[Any]]) -> Any:
    """A result of a kind with these columns; it cannot compute others."""
    whole = ("offsets", "rechecked", *kind._of_queries)
    offsets, fields = columns.get("offsets"), tuple(name for name in columns if name not in whole)

    def init(self: Any, known: dict[str, NDArray[Any]]) -> None:
        self._columns = known

    def take(self: Any, rows: Int64Array) -> Any:
        known, taken = dict(self._columns), rows
        if offsets is not None:
            known["offsets"], taken = chords_of_rays(self.offsets, rows)
        known |= {name: known[name][taken] for name in fields}
        if offsets is not None:
            known["query" if "query" in known else "ray"] = ray_of_each(known["offsets"])
            known |= {name: known[name][rows] for name in kind._of_queries}
        return type(self)(known)

    def unknown(_: object, name: str) -> NoReturn:
        raise AttributeError(f"{kind.__name__}.{name}: not in the file or the rows that this result was made of")

    methods = (name for name in dir(kind) if name[0] != "_" and isfunction(getattr(kind, name)))
    own = {
        **{name: property() for name in methods if not hasattr(Result, name)},  # without a getter: `unknown` is called
        "fields": fields,
        "__init__": init,
        "__getattr__": unknown,
        "__reduce__": lambda self: (read_from_file, (kind, self._columns), {"_query_shape": self._query_shape}),
        "__len__": lambda self: len(self._columns[fields[0]]),
        "_count": property(lambda self: len(self) if offsets is None else len(self.offsets) - 1),
        "_take": take,
        "_summary": lambda self: f"{kind.__name__}({len(self)} rows)",
    }
    known: dict[str, Any] = {name: Field[Any](f"`{name}`, as it was saved.") for name in columns}
    if "rechecked" in columns:
        own["rechecked"] = columns["rechecked"].item()
    return type(kind.__name__, (kind,), {**known, **own, "__module__": kind.__module__})(columns)


def chosen_rows(rows: Any, n: int, what: str) -> Int64Array:
    """Numbers of the rows, out of n, that an index, a slice, a mask or an array of indices chooses; `what` names them.

    Raises
    ------
    IndexError
        If `rows` is no such choice, out of range, masked, or of more than one dimension.
    """
    if np.ma.isMaskedArray(rows) or (isinstance(rows, list | tuple) and any(map(np.ma.isMaskedArray, rows))):
        raise IndexError(f"{what}: expected indices, a slice or a mask, got masked ones; fill them first")
    try:
        chosen = np.atleast_1d(np.arange(n)[rows])
    except (TypeError, ValueError) as error:
        raise IndexError(f"{what}: expected indices, a slice or a mask, got {type(rows).__name__} ({error})") from None
    if chosen.ndim != 1:
        raise IndexError(f"{what}: expected indices, a slice or a mask of one dimension, got {chosen.ndim}")
    return chosen
