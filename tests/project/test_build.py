"""The build of the machine code stops at what it does not know, and makes again what depends on a changed source."""

import os
import shutil
import sys
from types import FunctionType, ModuleType

import pytest
from support.package import put_build_in_reach

import cylcollide as cc

pytest.importorskip("numba")
put_build_in_reach()

from cylcollide.runtime import sources as of_package
from cylcollide.runtime.compile import LOOPS, MARKED, Loop
from cylcollide.runtime.levels import known, machine
from cylcollide.runtime.sources import ROOT
from native import backend, build, examples, levels, signatures, sources  # noqa: F401 - examples import all loops


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, dict[str, Loop]]:
    """A module of the package with a loop."""
    module = ModuleType("cylcollide.some")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def doubled(number):
        return 2.0 * number

    module.doubled = doubled
    return module, {"some.doubled": Loop(doubled, doubled)}


def test_a_signature_is_that_of_the_calls(loops: tuple[ModuleType, dict[str, Loop]]):
    module, table = loops
    found = signatures.record(table, lambda: module.doubled(1.5))
    assert found == {"some.doubled": signatures.Signature((float,), float)}
    assert found["some.doubled"].format == "d:d"
    assert module.doubled is table["some.doubled"].call


def test_a_loop_that_no_example_calls_is_named(loops: tuple[ModuleType, dict[str, Loop]]):
    with pytest.raises(RuntimeError, match=r"no example calls some\.doubled; add one"):
        signatures.record(loops[1], lambda: None)


def test_a_loop_with_two_signatures_is_named(loops: tuple[ModuleType, dict[str, Loop]]):
    module, table = loops
    with pytest.raises(RuntimeError, match=r"some\.doubled: expected the same types in all calls"):
        signatures.record(table, lambda: (module.doubled(1.5), module.doubled(1)))
    assert module.doubled is table["some.doubled"].call


CALLS = """
declare double @{name}(double, double)
define double @loop(double %x) {{
  %y = call double @{name}(double %x, double %x)
  ret double %y
}}
"""


def test_a_symbol_that_no_installation_has_is_named():
    (target,) = levels.targets()
    assert b"some_loop" in backend.object_file(target, "some_loop", "loop", [CALLS.format(name="fmod")])
    with pytest.raises(RuntimeError, match="some_loop calls NRT_Allocate, which no installation has"):
        backend.object_file(target, "some_loop", "loop", [CALLS.format(name="NRT_Allocate")])


def called_by(function: FunctionType, seen: set[FunctionType]) -> set[FunctionType]:
    """All marked functions that one calls, directly or not."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        value = next((loop.function for loop in LOOPS.values() if loop.call is value), value)
        if callable(value) and value in MARKED and value not in seen:
            seen.add(value)
            called_by(value, seen)
    return seen


def test_the_files_of_a_loop_hold_all_that_it_calls():
    """And numbers that it reads."""
    for loop in LOOPS.values():
        files = set(sources.files_of(loop.function.__module__))
        wanted = {one.__module__ for one in called_by(loop.function, {loop.function})}
        assert {sources._path(module).relative_to(ROOT).as_posix() for module in wanted} <= files, loop.function
    stream = {path.removeprefix("cylcollide/") for path in sources.files_of("cylcollide.query.loops.stream")}
    assert {"constants.py", "_types.py", "runtime/simd.py", "kernels/cylinder.py", "bvh/stream.py"} <= stream
    assert not {"cli.py", "world/hit_world.py", "history/ring.py"} & stream


def test_an_object_is_made_again_when_a_kernel_changes(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """By its content: neither dates nor other files count."""
    shutil.copytree(ROOT / "cylcollide", tmp_path / "cylcollide", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in (sources, of_package):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (target,), one = levels.targets(), signatures.Signature((float,), float)

    def keys(*names: str) -> list[str]:
        for function in (sources._path, sources._imported, sources.files_of):
            function.cache_clear()
        return [build._key(target, name, one) for name in names]

    names = "query.loops.stream.cast_stream", "bvh.sah.fill_boxes"
    first = keys(*names)
    kernel, other = tmp_path / "cylcollide/kernels/cylinder.py", tmp_path / "cylcollide/world/hit_world.py"
    os.utime(kernel, (1e9, 1e9))
    other.write_text(other.read_text() + "\n# more\n")
    assert keys(*names) == first
    kernel.write_text(kernel.read_text() + "\n# more\n")
    changed = keys(*names)
    assert changed[0] != first[0]
    assert changed[1] == first[1]
    monkeypatch.setattr(build, "version", lambda name: "another")
    assert keys(*names)[1] != first[1]
    monkeypatch.undo()
    keys()


def test_levels_and_platforms_that_there_are_not_are_named():
    with pytest.raises(ValueError, match=r"expected levels among .*, or all; got fast"):
        levels.targets("x86-64,fast" if machine() == "x86_64" else "fast")
    with pytest.raises(ValueError, match=r"expected a platform among linux-x86_64, .*; got 'amiga'"):
        levels.targets("all", "amiga")
    (own,) = levels.targets()
    assert own in levels.targets("all")
    assert [target.level for target in levels.targets("all")] == list(known())
    assert cc.info().level in {*known(), "plain"}
