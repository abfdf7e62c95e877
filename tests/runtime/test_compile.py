"""When machine code is made, where it is kept, and when it is made anew."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import JIT
from support.thresholds import set_threshold

import cylcollide
from cylcollide.query.loops import brute_force, single, stream
from cylcollide.query.loops import chords as chord_loops
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops import surface as surface_loops

pytestmark = [pytest.mark.skipif(not JIT, reason="about machine code"), pytest.mark.ci_long]
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
    for value in (getattr(value, "function", value) for value in vars(module).values()) if isinstance(value, Dispatcher)
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
    loops = {"cast_closest", "cast_chords", "cast_brute_force", "cast_stream", "sort_rays", "write_hits"}
    assert kept & loops == {"cast_closest"}
    assert {"_fill_boxes", "_fill_rows"} < kept
    unused = [name for name in kept if re.search("chord|point|stream|contain|octant|refit|piece", name)]
    assert not unused
    assert kept <= set(first["compiled"])
    assert not second["compiled"]
    assert second["numbers"] == first["numbers"]
    assert min(first["numbers"]) < 1.0


def test_a_change_in_any_file_with_compiled_code_changes_the_stamp(tmp_path: Path):
    copy = tmp_path / "cylcollide"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location("copied_compile", copy / "runtime" / "compile.py")
    compiling = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiling)
    decorated = re.compile(r"^@(compiled|inlined|allocating|machine|elementwise)\b", re.MULTILINE)
    files = [path for path in copy.rglob("*.py") if decorated.search(path.read_text())]
    own = (copy / "crosscheck", copy / "bullet")  # numba looks at a file itself, and nothing else calls into these
    files = [path for path in files if not any(path.is_relative_to(room) for room in own)]
    files += [copy / f"{name}.py" for name in ("runtime/compile", "runtime/simd_llvm", "_types", "constants")]
    assert len(files) > 20
    stamps = {compiling._source_stamp()}
    for path in set(files):
        path.write_text(path.read_text() + "\n")
        stamps.add(compiling._source_stamp())
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
        for other in (read_only, columns, twice, plain.tolist()):
            got = world.cast_segments(other[:n], (-plain[:n]).tolist())
            assert np.array_equal(got.fraction, want.fraction)
        assert want.hit.any()


ENTRANCES = (
    single.cast_single_rays, brute_force.cast_brute_force, stream.cast_stream, point_loops.locate_single_points,
    point_loops.locate_points, surface_loops.write_surface, surface_loops.write_exactly, chord_loops.complete_chords,
    chord_loops.cast_chords, chord_loops.find_pieces, chord_loops.sort_crossings,
)  # fmt: skip


def worlds(tmp_path: Path) -> Iterator[cylcollide.HitWorld]:
    """Worlds of few, some and many limbs, made in every way there is; and none at all."""
    start = np.arange(30.0).reshape(10, 3)
    few = cylcollide.Limbs.cylinders(start[:2], start[:2] + 1.0, 0.5)
    boxes = cylcollide.Limbs.boxes(start, [0.0, 0.0, 0.0, 1.0], [1, 2, 3], character=np.arange(10), mask=3)
    some = cylcollide.Limbs.concat([few, boxes, cylcollide.Limbs.tubes(start, start - 1.0, 1.0, 0.5)])
    some.save(tmp_path / "limbs.npz")
    yield from map(cylcollide.HitWorld, (few, some, some[::2], some[[]], few.inflated(1), make_crowd(400)))
    world = cylcollide.HitWorld(cylcollide.Limbs.load(tmp_path / "limbs.npz"))
    yield world
    world.set_endpoints(2 * world.limbs.p1, (2 * world.limbs.p2).astype(np.float32))
    yield world


def questions(n: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Every form that arguments may have: method, arguments and options."""
    plain = np.random.default_rng(7).normal(size=(n, 3)) + 1.0
    read_only, whole = plain.copy(), np.ones(n, np.int16)
    read_only.flags.writeable = False
    swapped = plain.astype(plain.dtype.newbyteorder())
    kinds = (plain, read_only, np.asfortranarray(plain), np.repeat(plain, 2, axis=0)[::2], plain.astype(np.float32))
    for other in (*kinds, swapped, plain.tolist(), np.ones((n, 3), int), plain[0] if n == 1 else plain):
        yield "contains_points", (other,), {}
        for name in ("segments", "rays"):
            for query in (f"cast_{name}", f"occluded_{name}", f"chords_{name}"):
                yield query, (other, plain), {"threads": 1}
                yield query, (plain, other), {"inside": "exit", "ignore_character": 3, "mask": np.uint8(1)}
                many = {"mask": np.repeat(whole, 2)[::2], "ignore_character": whole.astype(">i4")}
                yield query, (plain, plain), {**many, "inside": "ignore", "threads": 2}
    for limit in (2, 2.5, np.float32(3), whole, np.repeat(plain[:, 0] ** 2, 2)[::2], read_only[:, 0] ** 2):
        yield "cast_rays", (plain, plain), {"max_distance": limit}


def test_entrances_get_arguments_of_the_same_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever users pass: who skips numba's look at the arguments would take them for what they are not."""
    types = {entrance: set[Any]() for entrance in ENTRANCES}
    for entrance in ENTRANCES:

        def looked_at(*arguments: Any, entrance: Any = entrance) -> Any:
            types[entrance].add(tuple(map(numba.typeof, arguments)))
            return entrance.function(*arguments)

        monkeypatch.setattr(entrance, "call", looked_at)
    set_threshold(monkeypatch, "RAYS_PER_TASK", 150)  # as with very many rays: several tasks
    set_threshold(monkeypatch, "RAYS_SHARED", 150)
    for world in worlds(tmp_path):
        for n in (1, 5, 300):
            for query, arguments, options in questions(n):
                answer = getattr(world, query)(*arguments, **options)
                if isinstance(answer, cylcollide.RayHits):
                    assert len(answer.position) == len(answer.exit_normal) == n  # other loops find these
    assert [len(found) for found in types.values()] == [1] * len(ENTRANCES)


def test_an_entrance_leads_to_machine_code_from_the_second_call_on(monkeypatch: pytest.MonkeyPatch):
    world = cylcollide.HitWorld(cylcollide.Limbs.cylinders(np.zeros(3), np.ones(3), 0.5))
    world.cast_segments([0, 0, -1], [0, 0, 2])
    monkeypatch.setattr(single.cast_single_rays, "function", None)
    assert world.cast_segments([0, 0, -1], [0, 0, 2]).hit.all()
