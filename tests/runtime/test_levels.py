"""Which machine code is used: the best level, or the requested one, else plain Python."""

import json
import os
import shutil
from pathlib import Path

import pytest
from support.package import ABOVE_PACKAGE, environment, run_python

import cylcollide as cc
from cylcollide.runtime import levels

PACKAGE = ABOVE_PACKAGE / "cylcollide"
HAS = levels.usable()
"""Levels that are installed and that this processor has."""

needs_machine_code = pytest.mark.skipif(not HAS, reason="about machine code")
one_warning = pytest.mark.filterwarnings("always")


def test_info_has_the_used_level():
    info = cc.info()
    assert (info.level, info.reason) == levels.CHOICE[:2]
    assert info.installed == tuple(levels.installed())
    assert info.version == cc.__version__
    assert all(f"{name} " in str(info) for name in ("level", "reason", "installed", "processor", "numpy"))


@needs_machine_code
def test_the_best_level_is_chosen():
    assert levels.choose(None).level == HAS[0]
    for level in HAS:
        choice = levels.choose(level)
        assert (choice.level, choice.machine_code) == (level, levels.module_of(level))
    assert levels.choose("plain")[::2] == ("plain", None)


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match=r"CYLCOLLIDE_LEVEL asks for fast: expected .* or plain"):
        levels.choose("fast")


@needs_machine_code
def test_a_level_that_the_processor_lacks_is_refused(monkeypatch: pytest.MonkeyPatch):
    """The message names it and the supported levels. Without a request the next level is used."""
    monkeypatch.setattr(levels.module_of(HAS[0]), "supported", lambda: False)
    rest = HAS[1:] or ["plain"]
    with pytest.raises(ImportError, match=rf"{HAS[0]}, which this processor lacks; it has {', '.join(rest)}:"):
        levels.choose(HAS[0])
    if HAS[1:]:
        assert levels.choose(None).level == HAS[1]


def test_a_level_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch):
    for there, named in ((["x86-64"], "x86-64 is"), ([], "no level is")):
        monkeypatch.setattr(levels, "installed", lambda there=there: there)
        with pytest.raises(ImportError, match=f"x86-64-v4, which is not installed; {named}"):
            levels.choose("x86-64-v4")


def none_is_suitable(patch: pytest.MonkeyPatch) -> str:
    for level in levels.installed():
        patch.setattr(levels.module_of(level), "supported", lambda: False)
    return "none of the installed levels"


def none_is_installed(patch: pytest.MonkeyPatch) -> str:
    patch.setattr(levels, "installed", list)
    return "no machine code is installed"


def free_threaded(patch: pytest.MonkeyPatch) -> str:
    """Such a Python looks for extension modules of other names."""
    patch.setattr("sysconfig.get_config_var", {"Py_GIL_DISABLED": 1}.get)
    patch.setattr(levels, "FREE_THREADED", True, raising=False)
    patch.setattr(levels, "installed", list)
    return "free-threaded"


@needs_machine_code
@pytest.mark.parametrize("way", [none_is_suitable, none_is_installed, free_threaded])
def test_without_machine_code_there_is_one_warning(monkeypatch: pytest.MonkeyPatch, way):
    why = way(monkeypatch)
    with pytest.warns(RuntimeWarning, match=f"{why}.*plain Python, some thousand times slower; .") as told:
        assert levels.choose(None)[::2] == ("plain", None)
    assert len(told) == 1


@needs_machine_code
@pytest.mark.skipif(not getattr(levels.MACHINE_CODE, "sources", ""), reason="about editable installations")
def test_stale_machine_code_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is stale if a source of a loop has other content; dates and other files do not count."""
    sources = levels.module_of(HAS[0]).sources.split()[1:]
    for name in sources:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(levels.ROOT / name, tmp_path / name)
    monkeypatch.setattr(levels, "ROOT", tmp_path)
    kernel = tmp_path / "cylcollide/kernels/cylinder.py"
    os.utime(kernel, (1e9, 1e9))
    (tmp_path / "cylcollide/cli.py").write_text("# more\n")
    assert levels.choose(None).level == HAS[0]
    kernel.write_text(kernel.read_text() + "\n# more\n")
    for requested in (None, HAS[0]):
        with pytest.warns(RuntimeWarning, match=r"sources have changed.*`pip install -e \.`") as told:
            assert levels.choose(requested)[::2] == ("plain", None)
        assert len(told) == 1


def test_the_package_is_small():
    """With the machine code of all levels, as `.ci/run` installs it, and with bytecode."""
    assert sum(path.stat().st_size for path in PACKAGE.rglob("*") if path.is_file()) < 15e6


def test_machine_code_does_not_name_the_folder_in_which_it_was_built():
    """So the same sources give the same file everywhere."""
    for path in (PACKAGE / "machine_code").glob("*.so"):
        code = path.read_bytes()
        assert not any(name in code for name in (b"site-packages", b"arrayobj.py", bytes(PACKAGE.parent))), path


# In fresh processes.

ASK = """
import json, sys
import cylcollide as cc
hits = cc.Limbs.cylinders([0, 0, 0], [0, 0, 1], 0.5).cast_segments([-2, 0, 0.5], [2, 0, 0.5])
print(json.dumps([cc.info().level, hits.fraction.tolist(), sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def ask(root: Path, script: str = ASK, **how) -> tuple[list, list[str]]:
    """Run a script with the package below `root`; return its result, and the lines of its warnings."""
    how.setdefault("env", environment(root))
    done = run_python("-W", "always", "-c", script, **how)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [line for line in done.stderr.splitlines() if "Warning: " in line]


def test_a_package_without_machine_code_works(tmp_path: Path):
    """Freezing tools leave out the folder: no import statement names it."""
    left_out = shutil.ignore_patterns("__pycache__", "machine_code")
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=left_out)
    (level, fraction, _), warned = ask(tmp_path, cwd=tmp_path)
    assert (level, fraction) == ("plain", [0.375])
    assert len(warned) == 1
    assert "pip install" in warned[0]


QUERIES = """
import json, sys, warnings
import numpy as np
import cylcollide as cc, cylcollide.engines
world = cc.HitWorld(cc.Limbs.cylinders(np.arange(60.0).reshape(20, 3), np.arange(60.0).reshape(20, 3) + 1.0, 2.0))
ids, history = world.spawn(cc.Rig.humanoid(), 2), cc.PoseHistory(world)
history.record(0.0), history.record(1.0)
starts = np.zeros((300, 3))
found = world.cast_segments(starts, starts + 9.0).fraction[0], history.cast_segments(starts, starts + 9.0, 0.5).limb[0]
world.chords_segments(starts, starts + 9.0).limb, world.contains_points(starts)
history.cast_moving(starts, starts + 9.0, 0.0, 1.0).exit_time
world.judge_segments(starts, starts + 9.0, cc.Policy.first_surface()).damage
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    cc.warm_up()
print(json.dumps([cc.info().level, found[0], sorted({name.partition(".")[0] for name in sys.modules})]))
"""


@pytest.mark.skipif(not HAS or os.name != "posix", reason="about machine code")
def test_nothing_is_needed_but_numpy(tmp_path: Path):
    """numba and llvmlite raise when they are imported; there is no home, no place to write, no cache."""
    for name in ("numba", "llvmlite"):
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "__init__.py").write_text("raise RuntimeError('broken on purpose')")
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir(mode=0o500)
    path = os.pathsep.join([str(tmp_path / "broken"), str(PACKAGE.parent)])
    given = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.defpath, "TMPDIR": str(nowhere)}
    (level, fraction, modules), warned = ask(nowhere, QUERIES, cwd=nowhere, env=given)
    assert (level, warned) == (HAS[0], [])
    assert 0.0 <= fraction < 1.0
    assert not {"numba", "llvmlite", "native"} & set(modules)
    assert list(nowhere.iterdir()) == []


def test_warm_up_does_nothing_but_warn():
    with pytest.warns(FutureWarning, match="warm_up does nothing"):
        cc.warm_up()
