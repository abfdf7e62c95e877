"""Policies as JSON that a person can read and write, described by `policy.schema.json`, and checked on the way in."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from cylcollide.characters import json_text
from cylcollide.characters.policy_checks import Group
from cylcollide.limbs import files

FORMAT, VERSION = "cylcollide policy", 1
FIELDS = ("format", "version", "kind", "order", "damage", "loss", "groups")


def text_of(
    kind: str,
    order: Sequence[Group],
    damage: Mapping[Any, float],
    loss: Mapping[Any, float],
    groups: Mapping[str, int],
) -> str:
    """The fields of a policy as JSON; a mapping is a list of pairs, for numbers are no keys in JSON."""
    content = {"format": FORMAT, "version": VERSION, "kind": kind, "order": list(order)}
    pairs = {"damage": [list(pair) for pair in damage.items()], "loss": [list(pair) for pair in loss.items()]}
    return json.dumps({**content, **pairs, "groups": dict(groups)})


def write(path: str | PathLike[str], text: str) -> None:
    """Write a file, which is replaced when all is written."""
    files.replace(Path(path), lambda stream: stream.write(text.encode()))


def read(path: str | PathLike[str]) -> tuple[bytes, str]:
    """The text of a file, and what messages call it."""
    return Path(path).read_bytes(), str(path)


def parsed(text: str | bytes, source: str) -> dict[str, Any]:
    """The fields of a policy, of the right form but not checked.

    Raises
    ------
    ValueError
        If the text is no policy.
    """
    if not isinstance(text, str | bytes):
        _refuse(source, "JSON", type(text).__name__)
    try:
        content = json_text.parsed(text)
    except ValueError as error:
        _refuse(source, "JSON", str(error)[:120])
    if not isinstance(content, dict):
        _refuse(source, f"an object with {', '.join(FIELDS)}", json_text.shown(content))
    got = (content.get("format"), content.get("version"))
    if got != (FORMAT, VERSION) or isinstance(got[1], bool):
        _refuse(source, f"format {FORMAT!r}, version {VERSION}", f"{got[0]!r}, version {got[1]!r}"[:120])
    if sorted(content) != sorted(FIELDS):
        _refuse(source, f"the fields {', '.join(FIELDS)}", ", ".join(map(repr, content))[:120])
    for name in ("damage", "loss"):
        content[name] = _mapping(content[name], f"{source}, {name}")
    del content["format"], content["version"]
    return content


def _mapping(value: Any, where: str) -> dict[Any, Any]:
    """A list of pairs as a mapping."""
    if not isinstance(value, list):
        _refuse(where, "a list of pairs", json_text.shown(value))
    for place, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int):
            _refuse(f"{where}[{place}]", "a hit group and a number", json_text.shown(pair))
    if len({(type(one), one) for one, _ in value}) != len(value):
        _refuse(where, "each hit group once", json_text.shown(value))
    return dict(value)


def _refuse(where: str, expected: str, got: str) -> NoReturn:
    raise ValueError(f"{where}: expected {expected}, got {got}; see policy.schema.json beside {__name__}")
