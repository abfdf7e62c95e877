"""The build of the machine code refuses unknown types and symbols, and rebuilds what depends on a changed source."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.package import ABOVE_PACKAGE, environment, make_build_importable, output_of

import cylcollide as cc
from cylcollide._types import Column, Float64Array, LayerMasks, NodeBoxes, Rows, Vectors

pytest.importorskip("numba")
make_build_importable()

from numba.core import types

from cylcollide.runtime.compile import LOOPS, MARKED, Loop
from cylcollide.runtime.levels import ROOT, known, machine
from native import backend, build, frontend, linker, signatures

signatures.declared()  # which imports all loops


class Cone(NamedTuple):
    """A tuple that a loop may take."""

    apex: tuple[float, float, float]
    boxes: Rows[np.float32]
    is_open: bool


class Bare(NamedTuple):
    """A tuple that a loop may not take: the lengths of `radius` are not declared."""

    cone: Cone
    radius: Float64Array


def signature_of(parameter: Any, result: Any = None, **options: bool) -> signatures.Signature:
    """The signature of a loop with such annotations."""

    def loop(rows, k):
        pass

    loop.__annotations__ = {"k": int, "rows": parameter, "return": result}
    return signatures.signature_of("some.loop", Loop(loop, loop, **options))


def test_a_signature_is_what_the_annotations_declare():
    one = signature_of(Cone, bool, keeps_lock=True)
    assert one.format == "!((ddd)[f42?)q:?"
    assert (one.words, one.returns) == (3 + 3 + 1 + 1, types.boolean)
    cone, number = one.takes
    assert (cone.instance_class, number, cone[0]) == (Cone, types.int64, types.UniTuple(types.float64, 3))
    assert cone[1:] == (types.Array(types.float32, 2, "C"), types.boolean)
    for annotation, code in ((Vectors, "[f82"), (LayerMasks, "[u41"), (NodeBoxes, "[f43"), (Column[np.bool_], "[b11")):
        assert signature_of(annotation).format == f"{code}q:n"


@pytest.mark.parametrize(
    ("annotation", "where"),
    [
        (Float64Array, "rows: expected .* got (numpy|NDArray)"),  # without lengths
        (Bare, r"rows\.radius: expected .* got (numpy|NDArray)"),
        (Column[Any], "rows: expected .* got .*Any"),  # without a dtype
        (Column[np.complex128], "rows: expected .* got .*complex128"),
        (list[float], r"rows: expected .* got list\[float\]"),
        (float | None, "rows: expected .* got .*None"),
        (str, "rows: expected .* got <class 'str'>"),
        ("Unknown", " name 'Unknown' is not defined"),  # imported for type checkers alone
    ],
)
def test_an_annotation_that_declares_no_type_is_named(annotation: Any, where: str):
    with pytest.raises(RuntimeError, match=rf"^some\.loop[.:]{where}"):
        signature_of(annotation)


def test_a_missing_annotation_is_named():
    def loop(rows: Vectors, k) -> int:
        return len(rows) + k

    with pytest.raises(RuntimeError, match=r"^some\.loop\.k: expected .*; got nothing$"):
        signatures.signature_of("some.loop", Loop(loop, loop))
    loop.__annotations__ = {"rows": Vectors, "k": int}
    with pytest.raises(RuntimeError, match=r"^some\.loop: expected a result of bool, int, float or None; got nothing$"):
        signatures.signature_of("some.loop", Loop(loop, loop))
    with pytest.raises(RuntimeError, match=r"^some\.loop: expected a result .*; got (numpy|NDArray)"):
        signature_of(int, Vectors)


def test_all_loops_of_the_package_are_found():
    """Compared with the decorators in the text of its files."""
    texts = [path.read_text() for path in (ROOT / "cylcollide").rglob("*.py")]
    marked = sum(len(re.findall(r"^@.*compiled_loop.*$", text, re.MULTILINE)) for text in texts)
    assert len(signatures.declared()) == marked > 60


CALLS = """
declare double @{name}(double, double)
define double @loop(double %x) {{
  %y = call double @{name}(double %x, double %x)
  ret double %y
}}
"""


def test_a_symbol_that_no_installation_has_is_named():
    (target,) = backend.targets()
    assert b"some_loop" in backend.object_file(target, "some_loop", "loop", [CALLS.format(name="fmod")])
    with pytest.raises(RuntimeError, match="some_loop calls NRT_Allocate, which no installation has"):
        backend.object_file(target, "some_loop", "loop", [CALLS.format(name="NRT_Allocate")])


SHARES = """
define double @"{long}"(double %x0) noinline
{{
{steps}
  ret double %x400
}}
define double @"{shared}"(double %x) noinline
{{
  %y = call double @"{long}"(double %x)
  ret double %y
}}
define double @loop(double %x)
{{
  %y = call double @"{shared}"(double %x)
  ret double %y
}}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other linkers keep what nothing calls")
@pytest.mark.parametrize("long", [f"{backend.SHARED}long", "long"], ids=["shared", "called by a shared one"])
def test_shared_functions_are_in_a_module_once(tmp_path, long: str):
    """Two loops call a shared function, which calls a long one that is never inlined."""
    (target,) = backend.targets()
    steps = "\n".join(f"  %x{k + 1} = fdiv double {k + 2}.0, %x{k}" for k in range(400))
    text, sizes = SHARES.format(shared=f"{backend.SHARED}short", long=long, steps=steps), []
    for loops in (["one"], ["one", "other"]):
        objects = [tmp_path / f"{loop}.o" for loop in loops]
        for loop, path in zip(loops, objects, strict=True):
            path.write_bytes(backend.object_file(target, f"{loop}_loop", "loop", [text]))
        made = tmp_path / f"{len(loops)}.so"
        used = [f"-Wl,-u,{loop}_loop" for loop in loops]
        subprocess.run(
            [*linker.compiler(target), "-s", *used, *objects, *linker.OPTIONS[target.system], "-o", made], check=True
        )
        sizes.append(made.stat().st_size)
    assert sizes[0] > 2000
    assert sizes[1] - sizes[0] < 1000


LOWER = """
from native import frontend, signatures
found = signatures.declared()
frontend.prepare()
print(*frontend.lower("bullet.box_loops.entering_rows", found["bullet.box_loops.entering_rows"]))
"""


def test_code_is_the_same_in_each_process():
    """It holds no address, neither of a function that a loop takes, nor of numba's objects, and no name of a folder."""
    path = os.pathsep.join([str(ABOVE_PACKAGE), str(Path(build.__file__).parents[1])])
    setting = environment(PYTHONPATH=path, PYTHONHASHSEED="0", CYLCOLLIDE_LEVEL="plain")
    one, other = (output_of("-c", LOWER, env=setting) for _ in range(2))
    assert "entering_rows" in one
    assert one == other
    assert "site-packages" not in one


def test_a_shared_function_has_a_symbol_of_its_code(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build, "BUILD_SOURCES", [])  # not installed
    name = "_ZN10cylcollide7kernels{}B{}B54c8tJTIeFIjxE8UniTupleIdLi3EE"
    symbol = frontend.shared_symbol(name.format("5curve9near_root", "3v21"))
    assert symbol == frontend.shared_symbol(name.format("5curve9near_root", "4v177"))
    assert symbol != frontend.shared_symbol(name.format("5curve9wall_step", "3v21"))
    assert symbol != frontend.shared_symbol(name.format("4bore9near_root", "3v21"))
    monkeypatch.setattr(build, "version", lambda name: "another")
    assert symbol != frontend.shared_symbol(name.format("5curve9near_root", "3v21"))


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
    """And files of constants that it reads."""
    for name, loop in LOOPS.items():
        files = set(build.files_of(name))
        wanted = {one.__module__ for one in called_by(loop.function, {loop.function})}
        assert {build.modules()[module].as_posix() for module in wanted} <= files, loop.function
    stream = {path.removeprefix("cylcollide/") for path in build.files_of("query.loops.stream.cast_stream")}
    assert {"constants.py", "_types.py", "runtime/simd.py", "kernels/cylinder.py", "bvh/stream.py"} <= stream
    assert not {"cli.py", "world/hit_world.py", "history/ticks.py"} & stream


def test_an_object_is_made_again_when_a_kernel_changes(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """Only code counts: no dates, comments, docstrings or other files."""
    for folder in (ROOT / "cylcollide", Path(build.__file__).parent):  # the build is not installed
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (target,), one = backend.targets(), signature_of(float)

    def keys(*names: str) -> list[str]:
        for function in (build.modules, build.imported, build.files_of, build.code_of):
            function.cache_clear()
        return [build.key(target, name, one) for name in names]

    names = "query.loops.stream.cast_stream", "bvh.sah.fill_boxes"
    first = keys(*names)
    kernel, other = tmp_path / "cylcollide/kernels/cylinder.py", tmp_path / "cylcollide/world/hit_world.py"
    os.utime(kernel, (1e9, 1e9))
    other.write_text(other.read_text() + "\nMORE = 1\n")
    text = kernel.read_text().split('"""', 2)[2]
    kernel.write_text(f'"""Another docstring."""\n{text}\n# more\n"""A text."""\n')
    assert keys(*names) == first
    kernel.write_text(kernel.read_text() + "\nMORE = 1\n")
    changed = keys(*names)
    assert changed[0] != first[0]
    assert changed[1] == first[1]
    monkeypatch.setattr(build, "version", lambda name: "another")
    assert build.key(target, names[1], one) != first[1]
    monkeypatch.undo()
    keys()


def test_unknown_levels_and_platforms_are_named():
    with pytest.raises(ValueError, match=r"expected levels among .*, or all; got fast"):
        backend.targets("x86-64,fast" if machine() == "x86_64" else "fast")
    with pytest.raises(ValueError, match=r"expected a platform among linux-x86_64, .*; got 'amiga'"):
        backend.targets("all", "amiga")
    (own,) = backend.targets()
    assert own in backend.targets("all")
    assert [target.level for target in backend.targets("all")] == list(known())
    assert cc.info().level in {*known(), "plain"}
