"""Gives query methods the arguments of the function that makes their request: one signature per kind of query.

Arrays of any shape (..., 3) become rows (n, 3) here, in C order. Requests and loops take rows only.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from math import prod
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from cylcollide import validate
from cylcollide.process.signatures import as_text, short_signature, written_parameters
from cylcollide.query.request import ARE_VECTORS
from cylcollide.query.result import Result

P = ParamSpec("P")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")
Request = TypeVar("Request")

VECTORS: Final = {
    **dict.fromkeys(("starts", "ends", "origins", "directions", "points", "centers", "center", "half_extents"), 3),
    **dict.fromkeys(("p1", "p2", "to_p1", "to_p2", "velocities", "gravity"), 3),
    "orientation": 4,
}
"""Arguments with one vector per row, and the length of this vector."""

TIMES: Final = ("time", "tick", "alpha", "t0", "t1", "target_t0", "target_t1")
"""Arguments that determine the shape of the query if every vector argument has one row."""


def arguments_of(
    make: Callable[P, Request], before: str = ""
) -> Callable[[Callable[[Owner, Request], Answer]], Callable[Concatenate[Owner, P], Answer]]:
    """Decorate a method of a request, so that it takes the arguments of `make` instead.

    Signature and annotations name these arguments. Those with vectors may have any shape (..., 3), as `of_any_shape`
    takes them; arrays of float64 (n, 3) go straight to `make`. `before` names a method of `self` that is called first
    and returns the object to query. The method is compiled from text, as in dataclasses, since passing on `*args` and
    `**kwargs` would add 7 % to a query of one ray.
    """
    given = written_parameters(make)
    names, (declared, passed) = [one.name for one in given], as_text(given)
    owner = f"self.{before}()" if before else "self"
    vectors = [name for name in names if name in VECTORS]
    pairs = [(vectors[k], vectors[min(k + 1, len(vectors) - 1)]) for k in range(0, len(vectors), 2)]
    are_rows = [f"ARE_VECTORS({one}, {other})" for one, other in pairs]
    are_rows += [f"are_flat({name})" for name in names if name in TIMES]
    every = ", ".join(f"'{name}': {name}" for name in names)
    by_row = [one.name for one in given if "ArrayLike" in str(one.annotation)]
    text = (
        f"lambda self, {declared}: answer({owner}, make({passed})) "
        f"if {' and '.join(are_rows)} else of_any_shape(answer, {owner}, make, {{{every}}}, by_row)"
    )
    known = {"make": make, "defaults": {one.name: one.default for one in given}, "by_row": by_row}
    known |= {"ARE_VECTORS": ARE_VECTORS, "of_any_shape": of_any_shape, "are_flat": are_flat}

    def decorate(answer: Callable[[Owner, Request], Answer]) -> Callable[Concatenate[Owner, P], Answer]:
        method: Any = wraps(answer)(eval(text, {"answer": answer, **known}))
        returned = signature(answer).return_annotation
        first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        method.__signature__ = short_signature([first, *given], returned)
        method.__annotations__ = {one.name: one.annotation for one in given} | {"return": returned}
        return method  # type: ignore[no-any-return]

    return decorate


# Any shape ----------------------------------------------------------------------------------------------------------


def of_any_shape(
    answer: Callable[..., Any], owner: Any, make: Callable[..., Any], given: Any, by_row: list[str]
) -> Any:
    """The answer to these arguments; those in `by_row` may have any shape, which becomes the `shape` of a result."""
    shape: tuple[int, ...] | None = ()
    for name in by_row:
        values = given[name]
        if values is None or type(values) in validate.NUMBERS:
            continue
        more = dimensions(values) - (name in VECTORS)
        if more > 1:
            given, shape = flattened(given, by_row)
            break
        if more:
            shape = None
    found = answer(owner, make(**given))
    if shape is not None and isinstance(found, Result):
        found._reshaped(shape)
    return found


def are_flat(values: Any) -> bool:
    """Whether times have at most one dimension: one per row, or one for all."""
    ndim: int | None = getattr(values, "ndim", None)
    return dimensions(values) < 2 if ndim is None and values is not None else (ndim or 0) < 2


def dimensions(values: Any) -> int:
    """Number of dimensions of an array of these values; arbitrary if they form no array."""
    count = 0
    while type(values) in validate.SEQUENCES and values:
        values, count = values[0], count + 1
    if type(values) in validate.NUMBERS:
        return count
    try:
        return count + np.ndim(values)
    except Exception:  # an object may raise anything; later checks reject it with a message
        return count


def flattened(given: dict[str, Any], by_row: list[str]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The arguments with all rows in one dimension, in C order, and their original shape.

    ValueError if shapes differ. One row stands for all.
    """
    arrays = {name: _array(given[name], name) for name in by_row if given[name] is not None}
    leading = {name: array.shape[:-1] if name in VECTORS else array.shape for name, array in arrays.items()}
    shapes = {name: shape for name, shape in leading.items() if name in VECTORS}
    if all(prod(shape) == 1 for shape in shapes.values()):
        shapes |= {name: shape for name, shape in leading.items() if name in TIMES}
    first = max(shapes, key=lambda name: (prod(shapes[name]) != 1, len(shapes[name])))
    shape, flat = shapes[first], dict(given)
    for name, array in arrays.items():
        if name in VECTORS:
            flat[name] = array.reshape(-1, VECTORS[name])
        elif array.ndim:
            flat[name] = array.reshape(-1)
        if prod(leading[name]) != 1 and leading[name] != shape:
            own = array.shape[len(leading[name]) :]
            raise ValueError(
                f"{name}: expected shape {(*shape, *own)}, as {first} has it, or one for all, got {array.shape}; "
                "rows belong together one by one, reshape either"
            )
    return flat, shape


def _array(values: Any, name: str) -> NDArray[Any]:
    """An argument as an array; ValueError unless vectors are its last axis."""
    if name not in VECTORS:
        return validate.as_numbers(values, name, "(...) or one number")
    size = VECTORS[name]
    array = validate.as_numbers(values, name, f"(..., {size})")
    if array.ndim == 0 or array.shape[-1] != size:
        what = "x, y, z; of x, y, z, w take [..., :3]" if size == 3 else "x, y, z, w"
        raise ValueError(f"{name}: expected shape (..., {size}), got {array.shape}; the last axis is a vector {what}")
    return array
