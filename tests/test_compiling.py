"""When machine code is made, where it is kept, and when it is made anew."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from verify import JIT

import cylcollide
from cylcollide import casting, dense

pytestmark = pytest.mark.skipif(not JIT, reason="about machine code")
PACKAGE = Path(cylcollide.__file__).parent

PREAMBLE = """
import json, sys
from numba.core import event
from numba.core.dispatcher import Dispatcher

with event.install_recorder("numba:compile") as compiling:
    import cylcollide as cc
imported = len(compiling.buffer)
functions = {
    id(value): value
    for name, module in list(sys.modules.items()) if name.startswith("cylcollide")
    for value in vars(module).values() if isinstance(value, Dispatcher)
}.values()
"""
LOOK = """
kept = next(f for f in functions if f.__name__ == "_fill_rows")._cache
print(json.dumps({
    "compiled on import": imported,
    "functions": len(functions),
    "with signatures": sum(bool(f.signatures) for f in functions),
    "where": kept.cache_path,
    "kept": len(kept._cache_file._load_index()),
}))
"""
ASK = """
import numpy as np

with event.install_recorder("numba:compile") as compiling:
    p1 = np.arange(15.0).reshape(5, 3)
    limbs = cc.Limbs.cylinders(p1, p1 + 1.0, 0.5)
    numbers = limbs.table.rows
    if ASK_A_WORLD:
        numbers = cc.HitWorld(limbs).cast_segments(p1[:3] - 9.0, p1[:3] + 9.0).fraction
print(json.dumps({
    "compiled": sorted({e.data["dispatcher"].__name__ for _, e in compiling.buffer if e.is_start}),
    "loaded": sum(sum(f.stats.cache_hits.values()) for f in functions),
    "numbers": numbers.ravel().tolist(),
}))
"""


def run(root: Path, script: str, **environment: str) -> dict:
    """Run in a fresh process, with the package that lies in `root`; what it prints."""
    known = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    clean = {**known, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script], env=clean, cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


def read_only_copy(root: Path) -> Path:
    """The package as installed where nothing can be written: a file stands where `__pycache__` would be made."""
    copy = root / "cylcollide"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").touch()
    return copy


def functions_in(cache: Path) -> set[str]:
    """Names of the functions whose machine code is kept below a directory."""
    return {re.match(r"\w+\.([\w.]+)-\d+\.", path.name)[1] for path in cache.rglob("*.nbi")}


def test_import_compiles_nothing(tmp_path: Path):
    found = run(PACKAGE.parent, LOOK, NUMBA_CACHE_DIR=str(tmp_path))
    assert found["functions"] > 50
    assert found["compiled on import"] == found["with signatures"] == 0
    assert Path(found["where"]).is_relative_to(tmp_path)
    assert not functions_in(tmp_path)


@pytest.mark.long
def test_a_read_only_installation_keeps_its_code_in_the_users_cache(tmp_path: Path):
    """The first process compiles, a second one loads; a change of the source ends that."""
    copy, cache = read_only_copy(tmp_path), tmp_path / "cache"
    user = {"XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache), "HOME": str(tmp_path)}
    first, second = (run(tmp_path, "ASK_A_WORLD = False\n" + ASK, **user) for _ in range(2))
    assert {"_fill_rows"} <= functions_in(cache) <= set(first["compiled"])
    assert not second["compiled"]
    assert second["loaded"] >= 1
    assert second["numbers"] == first["numbers"]
    assert not list(copy.rglob("*.nb[ic]"))

    # another file changes, and comes back
    other = copy / "kernels" / "interval.py"
    source = other.read_text()
    assert run(tmp_path, LOOK, **user)["kept"] == 1
    other.write_text(source + "# changed\n")
    assert run(tmp_path, LOOK, **user)["kept"] == 0
    other.write_text(source)
    assert run(tmp_path, LOOK, **user)["kept"] == 1


@pytest.mark.long
def test_a_first_query_compiles_what_it_uses_and_no_more(tmp_path: Path):
    """A few segments, a few cylinders: one of the loops over rays, and nothing of chords, points, streams."""
    first, second = (run(PACKAGE.parent, "ASK_A_WORLD = True\n" + ASK, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    kept = functions_in(tmp_path)
    loops = {"cast_closest", "cast_any", "cast_chords", "cast_few", "cast_stream", "sort_rays", "finish", "all_enter"}
    assert kept & loops == {"cast_closest"}
    assert {"limb_boxes", "_fill_rows"} < kept
    unused = [name for name in kept if re.search("chord|point|stream|contain|octant|refit|stretch", name)]
    assert not unused
    assert kept <= set(first["compiled"])
    assert not second["compiled"]
    assert second["numbers"] == first["numbers"]
    assert min(first["numbers"]) < 1.0


def test_a_change_in_any_file_with_compiled_code_changes_the_stamp(tmp_path: Path):
    copy = tmp_path / "cylcollide"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location("copied_compiling", copy / "compiling.py")
    compiling = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiling)
    files = [
        path for path in copy.rglob("*.py") if re.search(r"(compiling|simd|_lanes|_llvm) import ", path.read_text())
    ]
    files += [copy / f"{name}.py" for name in ("compiling", "_llvm", "_types")]
    assert len(files) > 20
    stamps = {compiling._package_stamp()}
    for path in set(files):
        path.write_text(path.read_text() + "\n")
        stamps.add(compiling._package_stamp())
    assert len(stamps) == 1 + len(set(files))


def test_without_any_directory_it_warns_and_works(tmp_path: Path):
    read_only_copy(tmp_path)
    nowhere = tmp_path / "file"
    nowhere.touch()
    script = 'print(json.dumps({"caches": sorted({type(f._cache).__name__ for f in functions})}))'
    user = {"XDG_CACHE_HOME": str(nowhere), "LOCALAPPDATA": str(nowhere), "HOME": str(nowhere)}
    found = run(tmp_path, script, **user)
    assert found["caches"] == ["NullCache"]
    assert found["stderr"].count("set NUMBA_CACHE_DIR") == 1


def test_arrays_of_any_kind_are_answered_by_the_same_code():
    """Read-only, in columns, strided, of another kind: numba would compile a loop once more for each."""
    plain = np.random.default_rng(7).normal(size=(4000, 3))
    limbs = cylcollide.Limbs.cylinders(np.zeros(3), np.ones(3), 0.5)
    world = cylcollide.HitWorld(limbs)
    read_only, columns, twice = plain.copy(), np.asfortranarray(plain), np.repeat(plain, 2, axis=0)[::2]
    read_only.flags.writeable = False
    for n in (5, 4000):
        want = world.cast_segments(plain[:n], -plain[:n])
        known = [len(loop.signatures) for loop in (casting.closest_of_few, dense.cast_few)]
        for other in (read_only, columns, twice, plain.tolist()):
            got = world.cast_segments(other[:n], (-plain[:n]).tolist())
            assert np.array_equal(got.fraction, want.fraction)
        assert want.hit.any()
        assert known == [len(loop.signatures) for loop in (casting.closest_of_few, dense.cast_few)]
