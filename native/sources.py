"""Which source files a loop is made of: their digest tells whether it must be compiled again."""

import ast
from functools import cache
from hashlib import blake2b
from pathlib import Path

from cylcollide.runtime.sources import ROOT

PACKAGE = "cylcollide"


@cache
def _path(module: str) -> Path | None:
    """The file of a module of the package; None if there is none of this name."""
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _imported(module: str) -> frozenset[str]:
    """The modules of the package that a module imports, anywhere in its text."""
    path, names = _path(module), set[str]()
    for node in ast.walk(ast.parse(path.read_bytes() if path else b"")):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(name for name in names if name.startswith(f"{PACKAGE}.") and _path(name))


CHOOSER = f"{PACKAGE}.runtime.levels"
"""What chooses a level at import: compiled functions read nothing of it."""


@cache
def files_of(module: str) -> tuple[str, ...]:
    """The file of a module, and those of all that it imports, directly or not: their paths in the checkout."""
    found, pending = set[str](), [module]
    while pending:
        name = pending.pop()
        if name not in found and name != CHOOSER:
            found.add(name)
            pending += _imported(name)
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in map(_path, found) if path))


@cache
def code_of(name: str) -> str:
    """What a file of the package says to a compiler: its syntax tree without docstrings and places in the text."""
    tree = ast.parse((ROOT / name).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            del node.body[0]
    return ast.dump(tree)


def digest_of_code(names: list[str]) -> str:
    """A digest of the names and the code of files: comments and docstrings do not count."""
    return blake2b(repr([(name, code_of(name)) for name in names]).encode(), digest_size=16).hexdigest()


def importing(module: str) -> list[str]:
    """All modules of the package that import a module."""
    files = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / PACKAGE).rglob("*.py")]
    return sorted(name for name in (".".join(file.parts) for file in files) if module in _imported(name))


FILES_OF_BUILD = [
    f"native/{name}.py" for name in ("backend", "emitters", "frontend", "intrinsics", "levels", "signatures")
]
"""The files of the build that decide what machine code a loop has."""
