"""Machine code takes the arguments that it was compiled for, and refuses all others before anything is written."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.machine_code import replace_loop
from support.package import put_build_in_reach

from cylcollide.runtime import compile, levels
from cylcollide.runtime.compile import LOOPS

put_build_in_reach()
examples = pytest.importorskip("native.examples")

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="about machine code")


@pytest.mark.parametrize("level", levels.installed())
def test_every_loop_is_in_every_level(level: str):
    module = import_module(levels.module_name(level))
    found = {name for name, value in vars(module).items() if callable(value) and "__" in name.strip("_")}
    assert found == {name.replace(".", "__") for name in LOOPS}
    assert len(found) > 60


@pytest.fixture(scope="module")
def calls() -> dict[str, tuple[Any, ...]]:
    """Arguments of one call of each loop."""
    kept: dict[str, tuple[Any, ...]] = {}

    def keeping(name: str, call: Any) -> Any:
        return lambda *arguments: kept.setdefault(name, arguments) and call(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        replace_loop(patch, compile.pack, lambda given: given)
        for name, loop in LOOPS.items():
            replace_loop(patch, loop.call, keeping(name, loop.call))
        examples.call_every_loop()
    assert kept.keys() == LOOPS.keys()
    return kept


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
        if not strided.flags.c_contiguous:  # as one row of one item is
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


@pytest.mark.parametrize("name", [*LOOPS])
def test_wrong_arguments_are_refused(calls: dict[str, tuple[Any, ...]], name: str):
    good, call, symbol = calls[name], LOOPS[name].call, name.replace(".", "__")
    tried, before = 0, [array.tobytes() for array in arrays_in(good)]
    wrong = [(*good[:k], other, *good[k + 1 :]) for k, one in enumerate(good) for other in spoiled(one)]
    for arguments in (good[:-1], (*good, 1), *wrong):
        with pytest.raises(TypeError) as raised:
            call(*arguments)
        tried += symbol in str(raised.value)
    assert tried >= 4 * len(before) + 2
    assert [array.tobytes() for array in arrays_in(good)] == before


@pytest.mark.parametrize("given", [(), ((),), ((), 2), ((), 2, 0)])
def test_frames_are_copied_from_complete_arguments(given: tuple[Any, ...]):
    with pytest.raises(TypeError, match="copy_frames: expected a tuple, an array"):
        levels.MACHINE_CODE.copy_frames(*given)
