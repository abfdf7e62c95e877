"""Shared by all tests: the hypothesis profiles and a humanoid-sized world."""

import gc
import os
import sys
from pathlib import Path

os.environ.setdefault("PYTHONSAFEPATH", "1")  # child processes import the package under test, not a working directory

import pytest
from hypothesis import HealthCheck, settings
from support.cases.everyday_worlds import make_crowd

import cylcollide as cc

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("house", deadline=None, derandomize=True, max_examples=40, suppress_health_check=QUIET)
settings.register_profile("explore", deadline=None, max_examples=5000, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With coverage, trace only tests with the coverage marker; if the marker lists cases, only these."""
    if config.pluginmanager.hasplugin("pytest_cov"):
        for item in items:
            marker = item.get_closest_marker("coverage")
            if marker is None or (marker.args and item.callspec.id not in marker.args):
                item.add_marker("no_cover")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the collected items from garbage collection: they live until the end.

    UsageError for a test whose name contains an address, since parallel workers would collect different names.
    """
    gc.freeze()
    if unstable := [item.nodeid for item in session.items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"names that change from run to run: {unstable}")


@pytest.fixture
def crowd() -> cc.Limbs:
    """Forty limbs of five characters in a box of 6 m, radii 5 to 40 cm; character i // 8, mask bit i % 3."""
    return make_crowd()


@pytest.fixture
def long_path(tmp_path):
    """A folder whose name is longer than a terminal line."""
    (tmp_path / ("a-long-name" * 10)).mkdir()
    return tmp_path / ("a-long-name" * 10)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `cylcollide` in this process as from a shell; returns its status, output and errors.

    Asserts that no given path is broken over lines.
    """

    def run(*words: object) -> tuple[int, str, str]:
        from cylcollide import cli

        monkeypatch.setattr(sys, "argv", ["cylcollide", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        said = capsys.readouterr()
        lines = (said.out + said.err).splitlines()
        for path in [str(word) for word in words if isinstance(word, Path)]:
            assert "".join(lines).count(path) == sum(line.count(path) for line in lines)
        return stopped.value.code, said.out, said.err

    monkeypatch.setenv("COLUMNS", "100")
    return run


@pytest.fixture
def refused(command):
    """Run `cylcollide` on input that it must refuse with status 2 and one line on stderr; returns that line.

    Only `bench` may print before, namely the machine code that it measures.
    """

    def run(*words: object) -> str:
        status, out, said = command(*words)
        (line,) = said.splitlines()
        assert (status, line[:12]) == (2, "cylcollide: ")
        assert not out or words[0] == "bench"
        return line

    return run


@pytest.fixture(autouse=True, scope="module")
def _no_client_is_left():
    """Disconnect the PyBullet clients that interventions reuse; other files expect none."""
    yield
    if "cylcollide.crosscheck.engine" in sys.modules:
        sys.modules["cylcollide.crosscheck.engine"].disconnect_idle()
