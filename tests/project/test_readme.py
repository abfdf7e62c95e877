"""What the README and the demos show is what happens."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DEMOS = sorted(demo for demo in (ROOT / "demos").glob("*.py") if demo.stem not in ("panda", "characters"))
"""All but those that open a window, which tests/panda3d plays, or need files of other packages."""


def test_readme_snippets_run():
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {})


def test_readme_names_the_two_commands_that_ci_runs():
    text = README.read_text()
    assert "pip install '.[crosscheck]' && cylcollide crosscheck" in text
    assert "pip install '.[test]' && pytest -n 2 --dist loadfile" in text
    assert "pip install '.[test]' --quiet && pytest -n 2 --dist loadfile\n" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.stem)
def test_demo_runs_and_is_short(demo, capsys, monkeypatch):
    assert len(demo.read_text().splitlines()) < 100
    monkeypatch.setattr(sys, "argv", [str(demo)])
    runpy.run_path(str(demo), run_name="__main__")
    assert capsys.readouterr().out


def test_bullet_demo_shows_a_phantom(capsys):
    runpy.run_path(str(ROOT / "demos" / "bullet_disagrees.py"), run_name="__main__")
    assert "a hit where there is none" in capsys.readouterr().out


@pytest.mark.parametrize("ping", ["0", "0.1", "0.2", "0.4"])
def test_lag_is_compensated_at_any_ping(ping, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["lag.py", "", ping])
    runpy.run_path(str(ROOT / "demos" / "lag.py"), run_name="__main__")
    assert "as claimed, it hits 'head'" in capsys.readouterr().out
