"""The names that pages write as code, and checks that they exist in a source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from keyword import kwlist

from support.conventions.paths import ROOT, Place, exists, nodes, python_files

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\.(py|c|md|csv|json|npz|html|svg|png|toml|urdf|cpp|h|gz)$")
PUBLIC = re.compile(r"(?<![\w.])(?:cc|world|limbs|hits|chords|mirror|Limbs|HitWorld)\.[A-Za-z_]\w*")
"""In a block of Python: attributes of the package and of variables with usual names of its objects."""


@cache
def words() -> frozenset[str]:
    """Every identifier and every word of a string but docstrings; modules, folders, columns of the benchmarks."""
    texts = {*python_files(), *kwlist}
    for name in python_files():
        alone = {id(node.value) for node in nodes(name) if isinstance(node, ast.Expr)}
        fields = (vars(node).values() for node in nodes(name) if id(node) not in alone)
        texts.update(value for values in fields for value in values if isinstance(value, str))
    found = set(re.findall(r"[A-Za-z_]\w*", "\n".join(texts)))
    for table in (ROOT / "benchmarks").glob("*.csv"):
        found.update(table.read_text().partition("\n")[0].split(","))
    return frozenset(found)


def _resolves(dotted: str) -> bool:
    """Whether some prefix of the name is an importable module that has the attributes of the rest."""
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
    """Whether a name exists: after `cc.` in the package; otherwise each part must occur in some source."""
    if name.startswith("cc."):
        return _resolves(f"cylcollide{name[2:]}")
    if "/" in name:
        return exists(name) or exists(f"{name}/") or exists(f"{name}.py") or is_code(name.replace("/", "."))
    if name.endswith("_") and not name.endswith("__"):
        return any(word.startswith(name) for word in words())
    parts = (part for part in name.split(".") if not part.startswith("__"))
    return words().issuperset(parts) or _resolves(name)


def _parts(code: str) -> Iterator[str]:
    """The names in a piece of code: alone, called, indexed, compared, assigned, or in a list."""
    for part in re.split(r"\s*(?:,|\||<|→)\s+", code):
        named = re.match(r"([A-Za-z_][\w./]*)(?=\(|=|\[|$)", part.strip(" …"))
        if named and not FILE.search(named.group(1)) and not named.group(1).endswith("/"):
            yield named.group(1).rstrip(".")


def names_in(page: str, text: str) -> Iterator[Place]:
    """Every name that a page writes as code, inline or in a block of Python."""
    plain = FENCE.sub(lambda block: "\n" * block.group().count("\n"), text)
    for number, line in enumerate(plain.splitlines(), 1):
        for code in CODE.findall(line):
            yield from (Place(page, number, part) for part in _parts(code))
    for block in FENCE.finditer(text):
        if block.group(1) == "python":
            first = text[: block.start(2)].count("\n") + 1
            for number, line in enumerate(block.group(2).splitlines(), first):
                yield from (Place(page, number, name) for name in PUBLIC.findall(line))
