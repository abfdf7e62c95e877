"""Interrupts: a signal during any call raises its exception there, and leaves the world as it was."""

import enum
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.check_cylinders import IS_COMPILED
from support.package import output_of
from support.storm import KINDS, LOOKUPS, MIRROR_KINDS, OF_WORLD, PAST_KINDS, STORM

ROOT = Path(__file__).parents[2]


def test_no_destructor_runs_python():
    """An interrupt that is raised within one is printed and lost; weak references have callbacks, too."""
    for path in (ROOT / "cylcollide").rglob("*.py"):
        source = path.read_text()
        assert "__del__" not in source, path
        assert not re.search(r"\bWeak(Set|KeyDictionary|ValueDictionary)\b|weakref[. ](import )?finalize", source), path


def test_no_structured_entries_are_compared():
    """Numpy discards exceptions while it determines their common type: rows go through `distinct_rows`."""
    for path in (ROOT / "cylcollide").rglob("*.py"):
        assert not re.search(r"\bunique\([^\n]*axis", path.read_text()), path


@pytest.mark.skipif(not IS_COMPILED or not hasattr(signal, "setitimer"), reason="about machine code")
@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        *((kinds, 5) for kinds in (KINDS, MIRROR_KINDS, PAST_KINDS)),
        *(pytest.param([kind], 400, marks=pytest.mark.long, id=kind) for kind in (*KINDS, *MIRROR_KINDS, *PAST_KINDS)),
    ],
)
def test_a_storm_of_signals(kinds: Sequence[str], count: int):
    """The exception of the handler and nothing else, nothing on standard error, and the next answer bit-equal.

    Also, no enumeration reaches numpy, which looks up __array_ufunc__ and the like, runs Python code of the
    enumeration's class for that, and discards all its errors: an interrupt in that code is lost.
    """
    looks_up = hasattr(enum.EnumMeta, "__getattr__")  # names in Python
    script = STORM.format(tests=str(ROOT / "tests"), past_kinds=PAST_KINDS) + LOOKUPS * looks_up
    said = output_of("-c", script, ",".join(kinds), count)
    print(said)
    lines = said.splitlines()
    delivered = dict(line.split(": ") for line in lines[: len(kinds)])
    assert list(delivered) == list(kinds)
    jobs = next(names for names in (OF_WORLD, MIRROR_KINDS, PAST_KINDS) if kinds[0] in names)
    assert lines[len(kinds) :] == looks_up * [f"{job}: []" for job in jobs]
    assert sum(map(int, delivered.values())) > len(kinds) * count / 5, "hardly any signal fell into a call"
