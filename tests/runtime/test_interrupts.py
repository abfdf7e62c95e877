"""Interrupts: a signal during any call raises its exception there, and leaves the world as it was."""

import ast
import enum
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.check_cylinders import IS_COMPILED
from support.package import ABOVE_PACKAGE
from support.storm import KINDS, LOOKUPS, MIRROR_KINDS, PAST_KINDS, STORM

ROOT = Path(__file__).parents[2]


def test_no_destructor_runs_python():
    """An interrupt that is raised within one is printed and lost; weak references have callbacks, too."""
    for path in (ROOT / "cylcollide").rglob("*.py"):
        source = path.read_text()
        assert "__del__" not in source, path
        assert not re.search(r"\bWeak(Set|KeyDictionary|ValueDictionary)\b|weakref[. ](import )?finalize", source), path


def test_no_generator_is_left_within_a_block():
    """A destructor ends a generator that nobody runs to its end: what a `with` or `try` around its `yield` does then
    runs in that destructor. The generator of a context manager is always run to its end.
    """
    for path in (ROOT / "cylcollide").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and "contextmanager" not in map(
                ast.unparse, function.decorator_list
            ):
                blocks = [node for node in ast.walk(function) if isinstance(node, ast.With | ast.Try)]
                inside = {type(node) for block in blocks for node in ast.walk(block)}
                assert not inside & {ast.Yield, ast.YieldFrom}, f"{path}: {function.name}"


def test_no_structured_array_is_compared():
    """Numpy finds the type that two such arrays have in common in Python code, whose errors become a TypeError; unique
    rows and columns are compared so.
    """
    for path in (ROOT / "cylcollide").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unique":
                assert "axis" not in {keyword.arg for keyword in node.keywords}, f"{path}:{node.lineno}"
            if isinstance(node, ast.keyword) and node.arg == "dtype":
                assert not isinstance(node.value, ast.List), f"{path}:{node.lineno}"


@pytest.mark.skipif(not hasattr(enum.EnumMeta, "__getattr__"), reason="enumerations that look names up in Python")
@pytest.mark.parametrize(
    "kinds", [(*KINDS, "grow", "classify"), MIRROR_KINDS, PAST_KINDS], ids=["world", "mirror", "past"]
)
def test_no_enumeration_reaches_numpy(kinds: Sequence[str]):
    """Numpy looks for __array_ufunc__ and the like in Python code of the enumeration's class, and discards all errors
    of that: an interrupt that falls into it is lost.
    """
    script = STORM.format(tests=str(ROOT / "tests"), past_kinds=PAST_KINDS).partition("want = answer()")[0] + LOOKUPS
    run = subprocess.run(
        [sys.executable, "-c", script, ",".join(kinds), "1"],
        cwd=ABOVE_PACKAGE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{kind}: []" for kind in kinds]


@pytest.mark.skipif(not IS_COMPILED or not hasattr(signal, "setitimer"), reason="about machine code")
@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (KINDS, 10),
        (MIRROR_KINDS, 10),
        (PAST_KINDS, 5),
        *(pytest.param([kind], 400, marks=pytest.mark.long, id=kind) for kind in (*KINDS, *MIRROR_KINDS, *PAST_KINDS)),
    ],
)
def test_a_storm_of_signals(kinds: Sequence[str], count: int):
    """The exception of the handler and nothing else, nothing on standard error, and the next answer bit-equal."""
    script = STORM.format(tests=str(ROOT / "tests"), past_kinds=PAST_KINDS)
    run = subprocess.run(
        [sys.executable, "-c", script, ",".join(kinds), str(count)],
        cwd=ABOVE_PACKAGE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout}{run.stderr[-2000:]}"
    assert run.stderr == ""
    print(run.stdout)
    delivered = dict(line.split(": ") for line in run.stdout.splitlines())
    assert list(delivered) == list(kinds)
    assert sum(map(int, delivered.values())) > len(kinds) * count / 5, "hardly any signal fell into a call"
