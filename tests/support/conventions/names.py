"""What is defined in the package and its surroundings, and the names that pages write as code."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from support.conventions.paths import ROOT, Place, exists, nodes, python_files

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
FILE = re.compile(r"\.(py|c|md|csv|json|npz|html|svg|png|toml|urdf|cpp|h|gz)$")
PUBLIC = re.compile(r"(?<![\w.])(?:cc|world|limbs|hits|chords|mirror|Limbs|HitWorld)\.[A-Za-z_]\w*")
"""In a block of Python: what is asked of the package and of what users hold of it."""


class Index(NamedTuple):
    """Names of Python files."""

    modules: dict[str, set[str]]
    """Modules and folders, and what each defines."""
    classes: dict[str, set[str]]
    """Classes, and their members."""
    words: set[str]
    """Every identifier, every word of a string that is no docstring, in any file; columns of the benchmarks."""
    attributes: set[str]
    """Every attribute that is read or written of a variable, with the variable."""


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def _docstrings(name: str) -> set[int]:
    """The strings that stand alone in a Python file: documentation, not data."""
    return {id(x.value) for x in nodes(name) if isinstance(x, ast.Expr) and isinstance(x.value, ast.Constant)}


@cache
def index() -> Index:
    """Everything that Python files name."""
    modules: dict[str, set[str]] = defaultdict(set)
    classes: dict[str, set[str]] = defaultdict(set)
    words: set[str] = set()
    attributes: set[str] = set()
    for name in python_files():
        tree, documentation = nodes(name)[0], _docstrings(name)
        assert isinstance(tree, ast.Module)
        for node in nodes(name):
            if isinstance(node, ast.Name):
                words.add(node.id)
            elif isinstance(node, ast.arg | ast.keyword) and node.arg:
                words.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                words.add(node.name)
            elif isinstance(node, ast.alias):
                words.update(node.name.split("."))
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
                if isinstance(node.value, ast.Name):
                    attributes.add(f"{node.value.id}.{node.attr}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                words.update(IDENTIFIER.findall(node.value))
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        modules[module].update(_bound(tree.body))
        if name.endswith("/__init__.py"):  # a front door passes names on
            modules[module].update(a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names)
        folder, _, stem = module.rpartition(".")
        modules[folder].add(stem)
        words.add(stem)
        for node in nodes(name):
            if isinstance(node, ast.ClassDef):
                inside = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
                classes[node.name].update(_bound(node.body))
                classes[node.name].update(
                    n.attr for n in inside if isinstance(n.value, ast.Name) and n.value.id == "self"
                )
                classes[node.name].update(b.id for b in node.bases if isinstance(b, ast.Name))
    for table in (ROOT / "benchmarks").glob("*.csv"):
        words.update(table.read_text().partition("\n")[0].split(","))
    return Index(dict(modules), dict(classes), words, attributes)


def _has_member(cls: str, member: str) -> bool:
    """Whether a class, or one that it is made from, has a member."""
    left, done = [cls], set()
    while left:
        done.add(one := left.pop())
        members = index().classes[one]
        if member in members:
            return True
        left.extend(members & index().classes.keys() - done)
    return False


def _resolves(dotted: str) -> bool:
    """Whether a module that can be imported has the attribute that the rest of the name says."""
    first, *rest = dotted.split(".")
    for end in range(len(rest), -1, -1):
        try:
            target: object = import_module(".".join([first, *rest[:end]]))
        except ImportError:
            continue
        for part in rest[end:]:
            if not hasattr(target, part):
                return False
            target = getattr(target, part)
        return True
    return False


def is_code(name: str) -> bool:
    """Whether a name stands for something.

    A member of a module or of a class is defined there, or is a name of another package; an attribute of a variable is
    written so in some Python file; a single word occurs in one.
    """
    if name.startswith("cc."):
        return _resolves(f"cylcollide{name[2:]}")
    if "/" in name:
        return exists(name) or exists(f"{name}/") or exists(f"{name}.py") or is_code(name.replace("/", "."))
    holder, _, member = name.rpartition(".")
    if not holder:
        return name in index().words or (name.endswith("_") and any(word.startswith(name) for word in index().words))
    if holder in index().classes:
        return _has_member(holder, member)
    ends = [module for module in index().modules if f".{module}".endswith(f".{holder}")]
    if any(member in index().modules[module] for module in ends) or name in index().attributes:
        return True
    return not ends and _resolves(name)


def _parts(code: str) -> Iterator[str]:
    """The names in a piece of code: called, compared, given a value, or in a row of several."""
    for part in re.split(r"\s*(?:,|\||<|→)\s+", code):
        named = re.match(r"([A-Za-z_][\w./]*)(?=\(|=|\[|$)", part.strip(" …"))
        if named and not FILE.search(named.group(1)) and not named.group(1).endswith("/"):
            yield named.group(1).rstrip(".")


def names_in(page: str, text: str) -> Iterator[Place]:
    """Every name that a page writes as code, in a line or in a block of Python."""
    plain = FENCE.sub(lambda block: "\n" * block.group().count("\n"), text)
    for number, line in enumerate(plain.splitlines(), 1):
        for code in CODE.findall(line):
            yield from (Place(page, number, part) for part in _parts(code))
    for block in FENCE.finditer(text):
        if block.group(1) == "python":
            first = text[: block.start(2)].count("\n") + 1
            for number, line in enumerate(block.group(2).splitlines(), first):
                yield from (Place(page, number, name) for name in PUBLIC.findall(line))
