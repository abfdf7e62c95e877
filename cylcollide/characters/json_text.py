"""JSON as files of this room have it: no field twice, no constants that are no JSON."""

import json
from typing import Any, NoReturn


def parsed(text: str | bytes) -> Any:
    """What a text of JSON says.

    Raises
    ------
    ValueError
        If it is no JSON, an object has a field twice, or a number is none.
    """
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_doubles)
    except RecursionError:
        raise ValueError("more lists in lists than can be read") from None


def shown(value: Any) -> str:
    """A value as in a message, not too long."""
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:80]}..."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which each field comes once."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError(f"a field comes twice among {', '.join(name for name, _ in pairs)[:80]}")
    return fields
