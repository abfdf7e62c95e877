"""The files of the repository, and the paths that pages and sources name."""

import ast
import gc
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
FOLDERS = (".ci", "benchmarks", "cylcollide", "demos", "docs", "native", "tests")
"""The folders that are searched, in addition to the files at the top."""

MADE = {"__pycache__", "gallery"}
"""Generated folders."""

SUFFIX = re.compile(r"\.(?:py|c|md|csv|svg|png|toml|css|js|j2)\b(?!\.\w)")
PATH = re.compile(r"(?<![\w./:@{*-])(?:[\w.*…{},-]+/)*[\w.*…{},-]+" + SUFFIX.pattern)
FOLDER = re.compile(r"`((?:[\w.*…-]+/)+)`")
"""In running text a slash may be an "or": folders are written as code."""


class Place(NamedTuple):
    """A word and its place in a file."""

    file: str
    line: int
    word: str


@cache
def files() -> frozenset[str]:
    """Every file and folder, relative to the root; folders end in a slash."""
    found = {path.name for path in ROOT.iterdir() if path.is_file()}
    for folder in FOLDERS:
        for path in (ROOT / folder, *(ROOT / folder).rglob("*")):
            if not MADE.intersection(path.parts):
                found.add(path.relative_to(ROOT).as_posix() + "/" * path.is_dir())
    return frozenset(found)


@cache
def _tails() -> frozenset[str]:
    """Every tail of these paths: for `cylcollide/kernels/box.py` also `kernels/box.py` and `box.py`."""
    split = [(path.rstrip("/").split("/"), "/" * path.endswith("/")) for path in files()]
    return frozenset("/".join(parts[k:]) + slash for parts, slash in split for k in range(len(parts)))


def expanded(path: str) -> Iterator[str]:
    """The paths that `kernels/{box,line}.py` stands for."""
    yield from map("".join, product(*(part.split(",") for part in re.split(r"[{}]", path))))


def exists(path: str) -> bool:
    """Whether a path exists, relative to any folder of the repository; `*` and `…` match any part of a name."""
    path = re.sub(r"^(\.\.?/)+", "", path).replace("…", "*")
    if "*" in path:
        pattern = re.compile("(.*/)?" + re.escape(path).replace(r"\*", "[^/]*"))
        return any(pattern.fullmatch(name) for name in files())
    return path in _tails()


def python_files(folder: str = "") -> list[str]:
    """Every Python file of a folder, relative to the root."""
    return sorted(name for name in files() if name.endswith(".py") and name.startswith(folder))


def paths_in(name: str, text: str, first: int = 1) -> Iterator[Place]:
    """Every path that a text names."""
    for number, line in enumerate(text.splitlines(), first):
        if not (SUFFIX.search(line) or "/`" in line):
            continue  # the patterns below are slow
        for word in (*PATH.findall(line), *FOLDER.findall(line)):
            for path in expanded(word):
                yield Place(name, number, path)


def _strings(name: str) -> Iterator[tuple[int, str]]:
    """Every string of a Python file with its line; replacement fields of f-strings become `*`."""
    pieces = {id(piece) for node in nodes(name) if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in nodes(name):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(p.value if isinstance(p, ast.Constant) else "*" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
            yield node.lineno, node.value


@cache
def text_of(name: str) -> str:
    """A file's text."""
    return (ROOT / name).read_text()


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    """All nodes of a Python file's syntax tree but contexts, the module first. `ast.walk` takes twice as long."""
    gc.disable()  # trees are kept; searching them for garbage would double the time
    try:
        found: list[ast.AST] = [ast.parse(text_of(name))]
        for node in found:
            for key, value in vars(node).items():
                if isinstance(value, list):
                    found.extend(one for one in value if isinstance(one, ast.AST))
                elif isinstance(value, ast.AST) and key != "ctx":
                    found.append(value)
    finally:
        gc.freeze()
        gc.enable()
    return tuple(found)


@cache
def docstrings(name: str) -> tuple[tuple[int, str], ...]:
    """Every string that is a statement, with its line."""
    alone = (node for node in nodes(name) if isinstance(node, ast.Expr))
    strings = ((node.lineno, node.value.value) for node in alone if isinstance(node.value, ast.Constant))
    return tuple((line, value) for line, value in strings if isinstance(value, str))


def paths_in_source(name: str) -> Iterator[Place]:
    """Every path in strings and comments of a Python file; of a test only docstrings, as its data name other paths."""
    for line, text in docstrings(name) if name.startswith("tests/") else _strings(name):
        yield from paths_in(name, text, line)
    if any("#" in line and next(paths_in(name, line.partition("#")[2]), None) for line in text_of(name).splitlines()):
        for token in tokenize.generate_tokens(io.StringIO(text_of(name)).readline):
            if token.type == tokenize.COMMENT:
                yield from paths_in(name, token.string, token.start[0])
