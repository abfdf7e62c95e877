"""Machine code takes the arguments that it was compiled for, and refuses all others before anything is written."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.package import make_build_importable

from cylcollide.runtime import levels
from cylcollide.runtime.compile import LOOPS

make_build_importable()
pytest.importorskip("numba")

from numba.core import types
from numba.np.numpy_support import as_dtype

from native import signatures

DECLARED = signatures.declared()

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="about machine code")


@pytest.mark.parametrize("level", levels.installed())
def test_every_loop_is_in_every_level(level: str):
    module = levels.module_of(level)
    found = {name for name, value in vars(module).items() if callable(value) and "__" in name.strip("_")}
    assert found == {name.replace(".", "__") for name in LOOPS}
    assert len(found) > 60


def example(kind: Any) -> Any:
    """A value of a declared type."""
    if isinstance(kind, types.Array):
        return np.zeros((2,) * kind.ndim, as_dtype(kind.dtype))
    if isinstance(kind, types.BaseTuple):
        items = tuple(map(example, kind))
        return kind.instance_class(*items) if isinstance(kind, types.BaseNamedTuple) else items
    return as_dtype(kind).type().item()


def spoiled(argument: Any) -> Iterator[Any]:
    """The argument in forms that machine code was not compiled for."""
    if isinstance(argument, bool | np.bool_):  # anything has a truth
        return
    yield None
    if isinstance(argument, tuple):
        yield list(argument)
        yield argument[:-1]
        yield (*argument, 1)
        for k, item in enumerate(argument):
            yield from ((*argument[:k], other, *argument[k + 1 :]) for other in spoiled(item))
    elif isinstance(argument, np.ndarray):
        yield argument.tolist()
        yield argument[None]
        yield np.zeros(argument.shape, np.float32 if argument.dtype == np.float64 else np.float64)
        if argument.itemsize > 1 and argument.size:
            yield argument.astype(argument.dtype.newbyteorder())
            beside = np.zeros(argument.nbytes + 1, np.uint8)[1:].view(argument.dtype)
            yield beside.reshape(argument.shape)
        strided = np.repeat(argument, 4, axis=-1)[..., ::4]
        if not strided.flags.c_contiguous:  # a single item is contiguous
            yield strided
    else:
        yield "1"
        yield np.zeros(2)


def arrays_in(arguments: Any) -> Iterator[np.ndarray]:
    """All arrays in tuples."""
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            yield argument
        elif isinstance(argument, tuple):
            yield from arrays_in(argument)


@pytest.mark.parametrize("name", DECLARED)
def test_wrong_arguments_are_refused(name: str):
    """The first two refusals show that the declared types are taken."""
    good, call, symbol = example(DECLARED[name].takes), LOOPS[name].call, name.replace(".", "__")
    with pytest.raises(TypeError, match=f"^{symbol}: expected more arguments$"):
        call(*good[:-1])
    with pytest.raises(TypeError, match=f"^{symbol}: expected fewer arguments, got 1$"):
        call(*good, 1)
    wrong = [(*good[:k], other, *good[k + 1 :]) for k, one in enumerate(good) for other in spoiled(one)]
    named = 0
    for arguments in wrong:
        with pytest.raises(TypeError) as raised:
            call(*arguments)
        named += symbol in str(raised.value)
    arrays = [*arrays_in(good)]
    assert named >= 4 * len(arrays)
    assert not any(array.any() for array in arrays)
