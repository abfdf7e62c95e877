"""Records for files: JSON without nan, and types for pydantic to check such files."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Any
from unicodedata import category

from pydantic import AfterValidator, Field, Strict, ValidationError
from pydantic_core import PydanticCustomError

from cylcollide.process.files import write_text

JsonObject = dict[str, Any]

LARGEST = 1e15
"""Metres or radians: no sweep writes larger numbers; products of smaller ones are finite."""


def such_that(holds: Callable[[str], bool], wanted: str) -> AfterValidator:
    """Checks a text. Not by a pattern: a Ctrl-C while pydantic compiles one is lost, and so is the pattern."""

    def check(text: str) -> str:
        if not holds(text):
            raise PydanticCustomError("text", "expected {wanted}", {"wanted": wanted})
        return text

    return AfterValidator(check)


def _is_printable(text: str) -> bool:
    return len(text) <= MOST_LETTERS and not any(c[0] == "C" or c in ("Zl", "Zp") for c in map(category, text))


MOST_LETTERS = 200
Truth = Annotated[bool, Strict()]
Whole = Annotated[int, Strict(), Field(ge=-1, lt=2**63)]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Length = Annotated[Number, Field(ge=-LARGEST, le=LARGEST)]
Text = Annotated[str, Strict(), such_that(_is_printable, f"printable text, at most {MOST_LETTERS} letters")]


def plain(value: Any) -> Any:
    """The value for JSON: tuples become lists, numbers Python's, and nan and infinite numbers None."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def one_line(error: BaseException, *, named: bool = False) -> str:
    """The message of an error on one line; ``named``: after the name of its class."""
    return " ".join((f"{type(error).__name__}: {error}" if named else str(error)).split())


def refusal(error: ValidationError) -> str:
    """The first error of pydantic: field, what was expected, what was given."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{field}: expected a value, got none"
    wanted = first["msg"].replace("Input should be", "expected").replace("Unexpected", "expected no such")
    return f"{field}: {wanted}, got {shortened(first['input'])}"


def write_json(path: Path, record: Any, indent: int = 2) -> None:
    """Write a record as JSON; nan is an error."""
    write_text(path, json.dumps(record, indent=indent, allow_nan=False) + "\n")
