"""Scripts that tests run in other processes import what there is: most of these tests are long and run seldom."""

import ast
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
OURS = ("cylcollide", "support")
EXTRAS = (TESTS.parent / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
THIRD_PARTY = re.findall(r"\w+", EXTRAS.partition("[project.scripts]")[0])
"""Words of the packages that the extras name: not all of them are installed."""


IMPORT = re.compile(r"^\s*(from [\w.]+ import \w+(?:, \w+)*|import [\w.]+(?:, [\w.]+)*)$", re.MULTILINE)


def scripts() -> dict[str, list[ast.stmt]]:
    """Lines that import something in each text of the tests, by its place."""
    found = {}
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                lines = [ast.parse(match.group(1)).body[0] for match in IMPORT.finditer(node.value)]
                if lines:
                    found[f"{path.relative_to(TESTS)}:{node.lineno}"] = lines
    return found


SCRIPTS = scripts()


def names_of(node: ast.AST) -> list[tuple[str, str]]:
    """Modules that an import names, each with what is taken from it."""
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", alias.name) for alias in node.names]
    assert isinstance(node, ast.Import)
    return [(alias.name, "") for alias in node.names]


def test_there_are_scripts():
    assert len(SCRIPTS) > 15


@pytest.mark.parametrize("place", SCRIPTS)
def test_imports_of_scripts_exist(place: str):
    for node in SCRIPTS[place]:
        for module, name in names_of(node):
            package = module.partition(".")[0]
            known = package in sys.stdlib_module_names or package in THIRD_PARTY or package == "no_such_package"
            assert known or find_spec(package), f"{place} imports {module}, which is no module"
            if package in OURS and name:
                found = import_module(module)
                assert hasattr(found, name) or find_spec(f"{module}.{name}"), f"{place}: {module} has no {name}"
