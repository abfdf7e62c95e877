"""Mutation tests: one expression of a copy of the package is changed, and the checks of its module must fail.

Changes are drawn from the syntax tree, so that nothing here depends on how a source is written: a comparison, a sign,
an operator, a number, the order of arguments, a name of a face. Kernels run as plain Python, so that a changed one
needs no compiler. Some changes are equivalent (a wider bound, a cheaper path); the others must be detected.
"""

import ast
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.oracle.shapes.table import NAMES as ALL_SHAPES

ROOT = Path(__file__).parents[2]

SHAPES = [
    "tests/oracle/test_shape_oracle.py::test_by_hand",
    "tests/limbs/test_faces.py::test_by_hand",
    "tests/limbs/test_explain.py::test_by_hand",
    "tests/limbs/test_explain.py::test_clearance_is_the_growth_that_flips_the_verdict",
    "tests/query/test_shapes_exact.py",
    "tests/kernels/test_extreme_inputs.py",
]
"""Cheap checks first: a run ends at the first failure."""
LAWS = "tests/query/test_shape_properties.py"
LAWFUL = [f"exact/{name}.py" for name in ("line", "order", "shapes", "solid")]
LAWFUL += ["shapes.py", "kernels/axis.py", "kernels/line.py", "kernels/box.py", "kernels/revolution.py"]
STREAMS = ["tests/runtime/test_simd_memory.py", "tests/query/test_stream_sizes.py", "tests/query/test_chords.py"]
PLACES = ["tests/query/test_positions_and_normals.py", "tests/query/test_chords.py"]
CONTACTS = ["tests/exact/test_contacts.py", "tests/exact/test_moving.py", "tests/oracle/test_moving_oracle.py"]
FLIGHTS = [f"tests/history/test_moving_{name}.py" for name in ("moments", "exits")]

CLEARANCES = ["tests/query/test_clearance.py", "tests/limbs/test_explain.py"]

CHECKS: dict[str, list[str]] = {
    **{f"exact/{name}.py": SHAPES for name in ("line", "order", "shapes", "solid")},
    **{f"kernels/{name}.py": SHAPES for name in ALL_SHAPES if (ROOT / "cylcollide/kernels" / f"{name}.py").exists()},
    **{f"kernels/{name}.py": SHAPES for name in ("chord", "curve", "dispatch", "hit_bounds", "inside_policy", "line")},
    "kernels/revolution.py": SHAPES,
    **{
        f"kernels/{name}.py": ["tests/kernels/test_thick.py"]
        for name in ("bore", "first_contact", "near_line", "thick")
    },
    "kernels/nearest_place.py": ["tests/kernels/test_distance.py", "tests/query/test_nearest.py"],
    "kernels/places_of_eight.py": ["tests/kernels/test_distance.py"],
    **{f"{name}/clearance.py": CLEARANCES for name in ("kernels", "query", "query/loops")},
    "kernels/about_limb.py": CLEARANCES,
    "kernels/level.py": ["tests/kernels/test_level.py", "tests/query/test_tiles.py"],
    "kernels/at_surface.py": ["tests/query/test_at_surface.py"],
    **{f"query/loops/{name}.py": ["tests/query/test_nearest.py"] for name in ("nearest", "within")},
    "bvh/near_points.py": ["tests/query/test_nearest.py"],
    "kernels/thick_surface.py": ["tests/query/test_thick_rays.py"],
    "query/thick.py": ["tests/query/test_thick_rays.py"],
    "exact/thick.py": ["tests/exact/test_thick.py"],
    "kernels/surface.py": PLACES,
    "kernels/axis.py": ["tests/kernels/test_normals.py", *SHAPES],
    **{f"exact/{name}.py": ["tests/exact/test_algebraic.py", *CONTACTS] for name in ("algebraic", "polynomials")},
    **{f"exact/{name}.py": CONTACTS for name in ("contacts", "moving")},
    **{f"moving/{name}.py": ["tests/moving/test_bounds.py"] for name in ("bernstein", "bounds", "contact", "solids")},
    **{f"query/loops/{name}.py": FLIGHTS for name in ("moving", "moving_exit", "moving_pair")},
    "query/loops/judge.py": ["tests/characters/test_policy_verdicts.py"],
    **{f"query/loops/{name}.py": STREAMS for name in ("brute_force", "leaf", "output", "stream")},
    "bvh/stream.py": STREAMS,
    "bvh/ray_node_pairs.py": [*STREAMS, "tests/query/test_points.py"],
    **{f"query/loops/{name}.py": [*STREAMS, *PLACES] for name in ("chords", "columns", "surface")},
    **{f"{name}.py": PLACES for name in ("query/exact_fallback", "query/chords")},
    "query/loops/points.py": ["tests/query/test_points.py"],
    "bvh/sah.py": ["tests/bvh/test_sah.py"],
    "bvh/traverse.py": ["-m", "long", "tests/bvh/test_no_hit_is_culled.py"],
    **{f"{name}.py": ["tests/query/test_validate.py"] for name in ("query/loops/inputs", "validate")},
    "shapes.py": ["tests/limbs/test_constructors.py", *SHAPES],
}
"""Modules of the package, and the checks that must detect changes of them."""

DRAWN, LEAST = 6, 3
"""Changes of each module, at most and at least. Half of them must be detected."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"CAP1": "CAP2", "CAP2": "CAP1", "SIDE": "CAP1", "BORE": "SIDE", "INSIDE": "SIDE", "inf": "0.0"}
SYMMETRIC = {"dot", "larger", "smaller", "max", "min", "two_sum", "two_product", "dd_add", "dd_multiply"}
"""Functions whose last two arguments may be swapped."""


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, object]]:
    """Yield node, field and new value of each possible change of one expression in a module's functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in {id(x): x for function in functions for part in function.body for x in ast.walk(part)}.values():
        match node:
            case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in SWAPS:
                yield node, "op", SWAPS[type(op)]()
            case ast.Compare(ops=[op]) if type(op) in SWAPS:
                yield node, "ops", [SWAPS[type(op)]()]
            case ast.UnaryOp(op=ast.USub()):
                yield node, "op", ast.UAdd()
            case ast.Constant(value=bool(value)):
                yield node, "value", not value
            case ast.Constant(value=int(value) | float(value)):
                yield node, "value", value + 1
            case ast.Name(id=name) if name in NAMES:
                yield node, "id", NAMES[name]
            case ast.Call(func=ast.Name(id=name), args=[*first, a, b]) if name not in SYMMETRIC:
                if not isinstance(a, ast.Starred) and ast.dump(a) != ast.dump(b):
                    yield node, "args", [*first, b, a]


def run(copy: Path, checks: list[str]) -> tuple[int, str]:
    """Return status and output of the checks on the package in `copy`, as plain Python, up to the first failure."""
    environment = {**os.environ, "CYLCOLLIDE_LEVEL": "plain", "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *checks]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
    except subprocess.TimeoutExpired:
        return pytest.ExitCode.TESTS_FAILED, "it does not end"
    return done.returncode, done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of package and tests."""
    for name in ("cylcollide", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "machine_code"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def changed(source: str, number: int) -> tuple[str, str]:
    """Return the source with one change, and what was changed."""
    tree = ast.parse(source)
    node, field, value = list(changes(tree))[number]
    before = ast.unparse(node)
    setattr(node, field, value)
    return ast.unparse(tree), f"line {node.lineno}: {before} -> {ast.unparse(node)}"


def drawn(module: str) -> list[tuple[str, str]]:
    """Return changes of a module, drawn with a fixed seed."""
    source = (ROOT / "cylcollide" / module).read_text()
    count = len(list(changes(ast.parse(source))))
    return [changed(source, number) for number in random.Random(module).sample(range(count), min(count, DRAWN))]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "checks", dict.fromkeys(tuple(checks) for checks in (*CHECKS.values(), [LAWS])), ids=lambda checks: checks[-1]
)
def test_an_unchanged_copy_passes(copy: Path, checks: tuple[str, ...]):
    status, output = run(copy, list(checks))
    assert status == pytest.ExitCode.OK, output[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("module", CHECKS)
def test_enough_changes_are_drawn(module: str):
    texts = [text for text, _ in drawn(module)]
    assert len({ast.unparse(ast.parse((ROOT / "cylcollide" / module).read_text())), *texts}) == len(texts) + 1 > LEAST


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("module", CHECKS)
def test_faults_are_found(copy: Path, module: str):
    unseen, all_of_them = [], drawn(module)
    for text, what in all_of_them:
        (copy / "cylcollide" / module).write_text(text)
        if run(copy, CHECKS[module])[0] == pytest.ExitCode.OK:
            unseen.append(what)
    assert len(unseen) <= len(all_of_them) // 2, "\n".join(unseen)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("law", re.findall(r"^def (test_\w+)", (ROOT / LAWS).read_text(), re.MULTILINE))
def test_a_law_can_fail(copy: Path, law: str):
    """By an assertion of the law, not by an error in the changed module."""
    for module in LAWFUL:
        source = (ROOT / "cylcollide" / module).read_text()
        for text, _ in drawn(module):
            (copy / "cylcollide" / module).write_text(text)
            if re.search(r"^E +(assert|AssertionError)", run(copy, [f"{LAWS}::{law}"])[1], re.MULTILINE):
                return
        (copy / "cylcollide" / module).write_text(source)
    pytest.fail("no change of a module is seen")
