"""How functions are passed their arguments, as LLVM's values; and where those are in objects of Python and numpy."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, types
from numba.core.datamodel.packer import ArgPacker

ITEMS = tuple.__basicsize__
"""Where the references to a tuple's items begin: bytes from its address."""

DATA = object.__basicsize__
"""Where an array holds the address of its numbers."""

SHAPE = DATA + 16
"""Where an array holds the address of its shape, behind the number of dimensions: part of numpy's binary interface."""

WORD = 8
"""Bytes of an address."""


class Whole:
    """Arguments as they are; those that are left out are not passed. As numba's `ArgPacker`."""

    def __init__(self, context: Any, kinds: Any) -> None:
        self._kinds = kinds
        self.argument_types = [context.get_value_type(kind) for kind in kinds if not isinstance(kind, types.Omitted)]

    def as_arguments(self, builder: Any, values: Any) -> list[Any]:
        """What is passed."""
        given = [value for kind, value in zip(self._kinds, values, strict=True) if not isinstance(kind, types.Omitted)]
        return [_of_type(builder, *pair) for pair in zip(given, self.argument_types, strict=True)]

    def from_arguments(self, _builder: Any, given: Any) -> list[Any]:
        """What was passed."""
        remaining = iter(given)
        return [None if isinstance(kind, types.Omitted) else next(remaining) for kind in self._kinds]


def _of_type(builder: Any, value: Any, kind: Any) -> Any:
    """An argument of a type: numba passes a function's variable arguments as a structure, even those of one type."""
    return value if value.type == kind else cgutils.pack_array(builder, cgutils.unpack_tuple(builder, value))


class Parts:
    """Arguments taken apart into numbers, and contiguous arrays into place and shape, of which the rest follows.

    As numba's `ArgPacker`.
    """

    def __init__(self, context: Any, kinds: Any) -> None:
        self._kinds = kinds
        self._parts = [None if isinstance(kind, types.Omitted) else _part(context, kind) for kind in kinds]
        self.argument_types = [kind for part in self._parts if part is not None for kind in part.types]

    def as_arguments(self, builder: Any, values: Any) -> list[Any]:
        """What is passed."""
        pairs = zip(self._parts, values, strict=True)
        return [one for part, value in pairs if part is not None for one in part.taken_apart(builder, value)]

    def from_arguments(self, builder: Any, given: Any) -> list[Any]:
        """What was passed."""
        remaining = iter(given)
        return [None if part is None else part.put_together(builder, remaining) for part in self._parts]

    def read(self, builder: Any, api: Any, items: Any, refuse: Any) -> list[Any]:
        """What is passed of the items of a tuple, or a branch to a block if it cannot be converted.

        That tuples and arrays are ones is not checked: entry points are called with what this package has made.
        """
        found = []
        for k, part in enumerate(part for part in self._parts if part is not None):
            found += part.read(builder, api, word_at(builder, items, ITEMS + WORD * k), refuse)
        return found

    def assign_names(self, given: Any, names: Any) -> None:
        """No names are needed."""


def word_at(builder: Any, place: Any, offset: int) -> Any:
    """The address that is so many bytes behind a place."""
    at = builder.gep(place, [llvm.IntType(64)(offset)])
    return builder.load(builder.bitcast(at, place.type.as_pointer()))


def _part(context: Any, kind: Any) -> Any:
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.ndim > 0:
        return _ArrayPart(context, kind)
    return _TuplePart(context, kind) if isinstance(kind, types.BaseTuple) else _OtherPart(context, kind)


class _OtherPart:
    """As numba passes it."""

    def __init__(self, context: Any, kind: Any) -> None:
        self._kind, self._packer = kind, ArgPacker(context.data_model_manager, [kind])
        self.types = list(self._packer.argument_types)

    def taken_apart(self, builder: Any, value: Any) -> list[Any]:
        return list(self._packer.as_arguments(builder, [value]))

    def read(self, builder: Any, api: Any, item: Any, refuse: Any) -> list[Any]:
        native = api.to_native_value(self._kind, item)
        with cgutils.if_unlikely(builder, native.is_error):
            builder.branch(refuse)
        return self.taken_apart(builder, native.value)

    def put_together(self, builder: Any, given: Iterator[Any]) -> Any:
        (value,) = self._packer.from_arguments(builder, [next(given) for _ in self.types])
        return value


class _TuplePart:
    """Its items."""

    def __init__(self, context: Any, kind: Any) -> None:
        self._type = context.get_value_type(kind)
        self._items = [_part(context, item) for item in kind]
        self.types = [one for item in self._items for one in item.types]

    def taken_apart(self, builder: Any, value: Any) -> list[Any]:
        items = [builder.extract_value(value, k) for k in range(len(self._items))]
        return [one for part, item in zip(self._items, items, strict=True) for one in part.taken_apart(builder, item)]

    def read(self, builder: Any, api: Any, item: Any, refuse: Any) -> list[Any]:
        items = [word_at(builder, item, ITEMS + WORD * k) for k in range(len(self._items))]
        pairs = zip(self._items, items, strict=True)
        return [number for part, one in pairs for number in part.read(builder, api, one, refuse)]

    def put_together(self, builder: Any, given: Iterator[Any]) -> Any:
        value = llvm.Constant(self._type, llvm.Undefined)
        for k, part in enumerate(self._items):
            value = builder.insert_value(value, part.put_together(builder, given), k)
        return value


class _ArrayPart:
    """Where it is, and its shape: inner functions own no array, so none needs to know what else numba keeps of one."""

    def __init__(self, context: Any, kind: Any) -> None:
        model = context.data_model_manager[kind]
        self._type, self._fields = model.get_value_type(), model._fields
        self._item_size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        self._dimensions = kind.ndim
        self._data, self._shape = map(self._fields.index, ("data", "shape"))
        self.types = [self._type.elements[self._data]] + [llvm.IntType(64)] * kind.ndim

    def taken_apart(self, builder: Any, value: Any) -> list[Any]:
        shape = [builder.extract_value(value, (self._shape, k)) for k in range(self._dimensions)]
        return [builder.extract_value(value, self._data), *shape]

    def read(self, builder: Any, _api: Any, item: Any, _refuse: Any) -> list[Any]:
        data = builder.bitcast(word_at(builder, item, DATA), self.types[0])
        shape = word_at(builder, item, SHAPE)
        sizes = [word_at(builder, shape, WORD * k) for k in range(self._dimensions)]
        return [data, *(builder.ptrtoint(size, kind) for size, kind in zip(sizes, self.types[1:], strict=True))]

    def put_together(self, builder: Any, given: Iterator[Any]) -> Any:
        place, *shape = [next(given) for _ in self.types]
        size = llvm.IntType(64)(self._item_size)
        strides = [reduce(builder.mul, shape[k + 1 :], size) for k in range(self._dimensions)]
        fields = {"nitems": [reduce(builder.mul, shape)], "itemsize": [size], "data": [place]}
        value = llvm.Constant(self._type, None)
        for name, numbers in (fields | {"shape": shape, "strides": strides}).items():
            field = self._fields.index(name)
            for k, number in enumerate(numbers):
                value = builder.insert_value(value, number, (field, k) if name in ("shape", "strides") else field)
        return value
