"""Where machine code is kept, what it is valid for, and what becomes of damaged files."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.check_cylinders import JIT
from support.processes import ABOVE, PACKAGE, environment

from cylcollide.runtime import code_cache

pytestmark = [pytest.mark.skipif(not JIT, reason="about machine code"), pytest.mark.ci_long]

ASK = """
import json, sys, time
begun = time.perf_counter()
import numpy as np
import cylcollide as cc
from cylcollide.runtime import code_cache
p1 = np.arange(15.0).reshape(5, 3)
limbs = cc.Limbs.cylinders(p1, p1 + 1.0, 0.5)
print(json.dumps({
    "numbers": limbs.table.rows.tolist(),
    "where": str(code_cache.writable_directory()),
    "files": sorted(path.name.split("-")[0] for path in code_cache.writable_directory().glob("*.code")),
}))
"""


def ask(root: Path, **variables: str) -> dict[str, Any]:
    """Make limbs in a fresh process, with the package that lies in `root`: one entry point."""
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment(root, **variables), cwd=root, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


def read_only_copy(root: Path) -> Path:
    """The package as installed where nothing can be written: a file stands where `__pycache__` would be made."""
    copy = root / "cylcollide"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").touch()
    return copy


def files_in(folder: Path) -> dict[str, float]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.code")}


def test_a_change_in_any_file_with_compiled_code_changes_the_stamp(tmp_path: Path):
    copy = tmp_path / "cylcollide"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location("copied_cache", copy / "runtime" / "code_cache.py")
    assert spec is not None
    assert spec.loader is not None
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)
    decorated = re.compile(r"^@(compiled|inlined|entry_point)\b", re.MULTILINE)
    files = {path for path in copy.rglob("*.py") if decorated.search(path.read_text())}
    files |= {copy / f"{name}.py" for name in ("runtime/machine_code", "runtime/simd_llvm", "_types", "constants")}
    assert len(files) > 20
    stamps = {copied.source_stamp()}
    for path in files:
        path.write_text(path.read_text() + "\n")
        stamps.add(copied.source_stamp())
    assert len(stamps) == 1 + len(files)


def test_a_read_only_installation_reads_what_is_beside_it_and_writes_to_the_user(tmp_path: Path):
    """The first process compiles, a second one loads; a change of the source ends that, and its return revives it."""
    copy, cache = read_only_copy(tmp_path), tmp_path / "cache"
    user = {"XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache), "HOME": str(tmp_path)}
    first = ask(tmp_path, **user)
    made = files_in(cache)
    assert first["files"] == ["kernels.limb_table._fill_rows"]
    assert ask(tmp_path, **user)["numbers"] == first["numbers"]
    assert files_in(cache) == made
    other = copy / "kernels" / "interval.py"
    source = other.read_text()
    other.write_text(source + "# changed\n")
    ask(tmp_path, **user)
    both = files_in(cache)
    assert len(both) == 2, "another version is compiled beside the first, and does not replace it"
    other.write_text(source)
    ask(tmp_path, **user)
    assert files_in(cache) == both

    beside = copy / "__pycache__"
    beside.unlink()
    shutil.copytree(cache / "cylcollide", beside / "machine_code")
    shutil.rmtree(cache)
    ask(tmp_path, **user)
    assert not files_in(cache), "what is warm beside the source is used"


@pytest.mark.long
def test_without_any_directory_code_is_kept_for_the_process(tmp_path: Path):
    read_only_copy(tmp_path)
    nowhere = tmp_path / "file"
    nowhere.touch()
    user = {"XDG_CACHE_HOME": str(nowhere), "LOCALAPPDATA": str(nowhere), "HOME": str(nowhere)}
    found = ask(tmp_path, **user)
    assert found["files"] == ["kernels.limb_table._fill_rows"]
    assert not Path(found["where"]).exists(), "it ends with the process"


@pytest.mark.parametrize(
    "damage", ["flipped", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("cut", "empty", "foreign"))]
)
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str):
    first = ask(ABOVE, NUMBA_CACHE_DIR=str(tmp_path))
    (path,) = tmp_path.rglob("*.code")
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes({
        "cut": whole[:middle],
        "empty": b"",
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "foreign": b"something else",
    }[damage])  # fmt: skip
    assert ask(ABOVE, NUMBA_CACHE_DIR=str(tmp_path))["numbers"] == first["numbers"]
    assert len(path.read_bytes()) >= len(whole) - 100
    assert not list(tmp_path.rglob("*.part"))


def test_what_nobody_uses_is_removed_and_what_is_used_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code_cache.write(tmp_path, "loop", b"old", b"1")
    code_cache.write(tmp_path, "loop", b"used", b"2")
    old, used = (tmp_path / f"loop-{code_cache._suffix(tag)}" for tag in (b"old", b"used"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    now = time.time() + (code_cache.KEPT_DAYS - 1) * code_cache.DAY
    monkeypatch.setattr(code_cache, "directories", lambda: [tmp_path])
    monkeypatch.setattr(code_cache.time, "time", lambda: now)
    stamps = used.stat().st_mtime
    assert code_cache.read("loop", b"used") == b"2"
    assert used.stat().st_mtime >= stamps
    monkeypatch.setattr(code_cache.time, "time", lambda: now + 2 * code_cache.DAY)
    code_cache.write(tmp_path, "loop", b"new", b"3")
    assert not old.exists()
