"""Paths and names in pages exist, rooms have layers, and files keep their size."""

import ast
import re
import tomllib
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.conventions.names import is_code, names_in
from support.conventions.paths import (
    ROOT,
    Place,
    docstrings,
    exists,
    files,
    nodes,
    paths_in,
    paths_in_source,
    python_files,
)

PAGES = sorted(name for name in files() if name.endswith(".md"))
CONFIGURATION = [".ci/run", "pyproject.toml"]

PLANNED = "**Planned:**"
"""Prefix of the one line that may name things that do not exist yet."""

WRITTEN = {
    *("repro/NN.py", "repro/01.py", "repro/*.py", "repro/", "cases/", "chunks/", "tables/", "tables/*.csv"),
    *("small.py", "lidar.png", "miss.png", "then.png", "docs/contents/*.md"),
    *("families.csv", "causes.csv", "setups.csv", "scoreboard.csv"),
}  # fmt: skip
"""Files that commands write, as pages and messages name them."""

ELSEWHERE = {
    *("rtcIntersect1", "llvm.fma", "llvm.masked.compressstore", "RayShapeTests", "IntrRay3Cylinder3"),
    *("ruff", "mypy", "timeit", "client.getNumBodies", "EmbreeScene.run", "RaycastingScene.cast_rays", "warp.Bvh"),
    *("hits_from_inside_count", "early_mm_median", "early_mm_99", "early_mm_max"),
}
"""Names of tools and other libraries, and columns whose names are composed at run time."""

LONGEST, FILES_AT_THE_TOP, FILES_WITHOUT_LAYERS = 320, 11, 4


def text_of(page: str) -> str:
    """Return the page, its line of plans left empty."""
    lines = (ROOT / page).read_text().splitlines(keepends=True)
    return "".join("\n" if line.startswith(PLANNED) else line for line in lines)


def fail_with(places: list[Place]) -> None:
    """Fail if there are any places, and list them."""
    if places:
        pytest.fail("".join(f"\n{place.file}:{place.line}: {place.word}" for place in places), pytrace=False)


def check_paths(paths: list[Place]) -> None:
    """Fail if a path does not exist, or if there are too few paths."""
    assert len(paths) > 20
    fail_with([p for p in paths if p.word.removeprefix("folder/") not in WRITTEN and not exists(p.word)])


def test_every_path_in_pages_and_configuration_exists():
    check_paths([path for name in (*PAGES, *CONFIGURATION) for path in paths_in(name, text_of(name))])


def test_every_path_in_strings_and_comments_exists():
    check_paths([path for name in python_files() for path in paths_in_source(name)])


def test_scripts_import_what_exists():
    """Also scripts that no test runs."""
    scripts = [name for name in python_files() if name.startswith(("benchmarks/", "demos/", "docs/"))]
    imported = [node for name in scripts for node in nodes(name) if isinstance(node, ast.ImportFrom)]
    named = {(one.module, alias.name) for one in imported for alias in one.names if one.module.startswith("cylcollide")}
    assert len(named) > 80
    known = {module: import_module(module) for module, _ in named}
    absent = [(module, name) for module, name in named if not hasattr(known[module], name)]
    missing = [pair for pair in absent if not hasattr(known[pair[0]], "__path__") or find_spec(".".join(pair)) is None]
    assert missing == []


def test_every_link_has_a_target():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text()):
            assert ((ROOT / page).parent / target).exists(), (page, target)


def test_every_name_in_pages_exists():
    named = [name for page in PAGES for name in names_in(page, text_of(page))]
    assert len(named) > 500
    fail_with([name for name in named if name.word not in ELSEWHERE and not is_code(name.word)])


def test_every_name_in_docstrings_exists():
    texts = [(name, line, text) for name in python_files() for line, text in docstrings(name)]
    named = [place._replace(line=place.line + line - 1) for name, line, text in texts for place in names_in(name, text)]
    assert len(named) > 500
    fail_with([name for name in named if name.word not in ELSEWHERE and not is_code(name.word)])


def test_a_class_name_means_one_thing():
    """Only a class of `exact/` may have the name of its float64 counterpart."""
    rooms = {True: Counter(), False: Counter()}
    for name in python_files("cylcollide"):
        classes = (node.name for node in nodes(name) if isinstance(node, ast.ClassDef))
        rooms[name.startswith("cylcollide/exact/")].update(classes)
    assert all(sum(names.values()) > 20 for names in rooms.values())
    assert not [name for names in rooms.values() for name, times in names.items() if times > 1]


def test_files_fit_on_a_few_screens():
    length = {name: len((ROOT / name).read_text().splitlines()) for name in python_files()}
    assert len(length) > 200
    assert {name: lines for name, lines in length.items() if lines > LONGEST} == {}


def test_few_files_stand_at_the_top():
    assert len([name for name in python_files("cylcollide/") if name.count("/") == 1]) <= FILES_AT_THE_TOP
    top = {name for name in files() if name.startswith("tests/") and name.count("/") == 1 and name[-1] != "/"}
    assert top == {"tests/README.md", "tests/conftest.py"}


def test_only_extension_modules_are_beside_the_package_of_machine_code():
    """Files that the build once wrote beside them were packed into a wheel."""
    beside = {path.name for path in (ROOT / "cylcollide" / "machine_code").iterdir() if path.is_file()}
    assert {name for name in beside if not name.endswith((".so", ".pyd"))} == {"__init__.py"}


def test_every_helper_of_tests_is_in_their_contents():
    """By itself, or with its folder."""
    helpers = [Path(name).relative_to("tests/support") for name in python_files("tests/support/")]
    listed = set(re.findall(r"`([^`]+)`", (ROOT / "tests" / "README.md").read_text()))
    assert len(listed) > 30
    named = {helper: {str(helper), *(f"{folder}/" for folder in helper.parents)} for helper in helpers}
    assert {helper for helper, names in named.items() if not names & listed} == set()


def layers() -> list[dict]:
    """Return the contracts about layers."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [c for c in configuration["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]


def test_every_room_has_layers():
    modules = Counter(Path(name).parent.as_posix() for name in python_files("cylcollide/"))
    rooms = {room.replace("/", ".") for room, count in modules.items() if count > FILES_WITHOUT_LAYERS + 1}
    assert len(rooms) > 10
    ruled = {container for contract in layers() if contract["exhaustive"] for container in contract["containers"]}
    assert rooms - ruled == set()


def test_the_contract_lists_every_room_and_file_of_the_package():
    """Each at the beginning of a line of the house, but for `__main__.py`, which only starts `cli.py`."""
    (house,) = re.findall(r"## 5\..*?```\n(.*?)```", (ROOT / "docs" / "design.md").read_text(), re.DOTALL)
    listed = set(re.findall(r"^  ([a-z_]\w*(?:/|\.py))", house, re.MULTILINE))
    parts = [name.removeprefix("cylcollide/").partition("/") for name in python_files("cylcollide/")]
    assert {first + slash for first, slash, _ in parts} - {"__main__.py"} == listed


def imported(name: str) -> set[str]:
    """Return the last name of every module that a file imports, or imports from."""
    found = {node.module or "" for node in nodes(name) if isinstance(node, ast.ImportFrom)}
    imports = (node for node in nodes(name) if isinstance(node, ast.ImportFrom | ast.Import))
    found |= {alias.name for node in imports for alias in node.names}
    return {part for module in found for part in module.split(".")}


def test_no_test_imports_another():
    tests = {Path(name).stem for name in python_files("tests/") if Path(name).stem.startswith("test_")}
    assert len(tests) > 40
    assert {name: both for name in python_files("tests/") if (both := imported(name) & tests)} == {}
