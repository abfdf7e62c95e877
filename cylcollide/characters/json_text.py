"""JSON of rigs and policies: an object with a format, a version and other fields, each once."""

import json
from typing import Any, NoReturn

VERSION = 1
"""The version of every format."""

SEE = f"; see {{}} beside {__name__}"
"""The end of messages about files, with the name of a schema."""


def refuse(where: str, expected: str, got: str) -> NoReturn:
    """Raise ValueError about one place of a text."""
    raise ValueError(f"{where}: expected {expected}, got {got}")


def content_of(text: Any, form: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a JSON text other than format and version, which are checked; other fields are not allowed.

    ValueError if the text is not JSON, has a field twice, a constant that JSON does not have, or another format.
    """
    if not isinstance(text, str | bytes):
        refuse("the file", "JSON", type(text).__name__)
    try:
        content = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        refuse("the file", "JSON", f"{type(error).__name__}: {str(error)[:120]}")
    check_fields("the file", content, ("format", "version", *needed), optional)
    found, version = content.pop("format"), content.pop("version")
    if (found, version) != (form, VERSION) or isinstance(version, bool):
        refuse("the file", f"format {form!r}, version {VERSION}", f"{found!r}, version {version!r}"[:120])
    return dict(content)


def check_fields(where: str, value: Any, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Raise ValueError unless the value is an object of these fields."""
    if not isinstance(value, dict):
        refuse(where, f"an object with {', '.join(needed)}", shown(value))
    for field in needed:
        if field not in value:
            others = ", ".join(map(repr, value))[:120]
            refuse(where, f"a field {field!r}", f"only {others}" if others else "an empty object")
    for field in value:
        if field not in needed and field not in optional:
            refuse(where, f"only the fields {', '.join((*needed, *optional))}", repr(field)[:120])


def shown(value: Any) -> str:
    """A value for a message, shortened."""
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:80]}..."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no number {name}")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from pairs; ValueError for repeated fields."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError(f"expected each field once, got {', '.join(name for name, _ in pairs)[:80]}")
    return fields
