"""Snippets of the README and the demos run, with the results that they show."""

import re
import runpy
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
RUN_ELSEWHERE = "panda", "panda_in_ursina", "characters", "match", "bots", "melee", "lag"
DEMOS = sorted(demo for demo in (ROOT / "demos").glob("*.py") if demo.stem not in RUN_ELSEWHERE)
"""All but those that open a window (see tests/panda3d), need files of other packages, or have a test below."""
SHOWN = {"bullet_disagrees": "a hit where there is none"}


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


SLOW = {"skin": [pytest.mark.long, pytest.mark.ci_long]}


@pytest.mark.parametrize("demo", [pytest.param(demo, marks=SLOW.get(demo.stem, ()), id=demo.stem) for demo in DEMOS])
def test_demo_runs(demo, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(demo)])
    runpy.run_path(str(demo), run_name="__main__")
    told = capsys.readouterr().out
    assert told
    assert SHOWN.get(demo.stem, "") in told


def test_demos_are_short():
    demos = {demo.stem: len(demo.read_text().splitlines()) for demo in (ROOT / "demos").glob("*.py")}
    assert {name for name, lines in demos.items() if lines >= 100} <= {"match", "bots"}


def test_sword_grenade_and_trap_hit_their_targets(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["melee.py", str(tmp_path / "melee.png")])
    runpy.run_path(str(ROOT / "demos" / "melee.py"), run_name="__main__")
    told = capsys.readouterr().out
    assert "where the server has everybody it hits nobody" in told
    assert "stroke 4 hits the right_upper_arm of 1" in told
    for who, limbs, damage in ((2, 17, 40), (3, 2, 23), (4, 0, 0)):  # in the open, behind a low wall and a high one
        assert f"it sees {limbs} limbs of {who}: damage {damage}\n" in told
    assert "the left_shank of 6 touches the wire" in told
    assert " of 7" not in told, "who jumps is above the spikes"
    assert (tmp_path / "melee.png").stat().st_size > 10_000


@pytest.mark.parametrize("ping", ["0", "0.4"])
def test_lag_is_compensated_at_any_ping(ping, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["lag.py", "", ping])
    runpy.run_path(str(ROOT / "demos" / "lag.py"), run_name="__main__")
    assert "as claimed, it hits 'head'" in capsys.readouterr().out


@pytest.fixture
def match(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "demos"))
    import match

    return match


@contextmanager
def resident_memory(each: float):
    """Resident memory of this process in megabytes, a sample every `each` seconds."""
    status, megabytes, is_over = Path("/proc/self/status"), [], threading.Event()

    def sample():
        while not is_over.wait(each):
            megabytes.append(int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) / 1024)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield megabytes
    finally:
        is_over.set()
        thread.join()


@pytest.mark.machine_code
def test_match_refuses_no_honest_claim_and_its_log_is_judged_again(match, tmp_path, capsys):
    assert len(Path(match.__file__).read_text().splitlines()) < 150
    for k, seconds in enumerate((1.0, 8.0, 60.0)):  # on a busy machine the first shots come late
        played, _ = match.main(["--seconds", str(seconds), "--log", str(tmp_path / f"{k}.shots")])
        if played.hits:
            break
    honest = played.claims[0]
    assert honest[cc.Admission.CLAIMED] > 0 == honest[cc.Admission.DISAGREES]
    assert "claims of honest bots" in capsys.readouterr().out
    with cc.ShotLog.open(tmp_path / f"{k}.shots") as log:
        assert log.rejudge().identical


@pytest.mark.long
@pytest.mark.machine_code
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_minute_of_the_match_is_fast_and_keeps_its_memory(match, capsys):
    with resident_memory(each=1.0) as megabytes:
        played, took = match.main(["--seconds", "60"])
    with capsys.disabled():
        print(f"memory after 20 s and at the end: {megabytes[20]:.1f}, {megabytes[-1]:.1f} MB")
    honest, cheat = played.claims
    assert played.shots > 20_000
    assert played.hits > 10_000
    assert honest.sum() == honest[cc.Admission.CLAIMED]
    assert cheat[cc.Admission.DISAGREES] > 0.9 * cheat.sum()
    assert np.percentile(took[:, 1], 99) < 8e-3
    assert max(megabytes[20:]) < megabytes[20] + 4
