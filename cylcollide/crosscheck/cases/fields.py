"""What the fields of a case must be as JSON has them: anything else is refused before it is used."""

from collections.abc import Callable, Container, Mapping
from dataclasses import asdict
from math import isfinite
from reprlib import repr as shortened
from typing import Annotated, Any

from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import Setup
from cylcollide.engines.bullet import CONSTRUCTIONS

UNNAMED = ""
"""The cause of a case whose cause was not sought."""
MOST_LIMBS, MOST_SEGMENTS, MOST_LETTERS = 10_000, 1_000_000, 200
"""No sweep writes more of them."""
LARGEST = 1e15
"""Metres or radians: no sweep writes greater numbers; their products are finite."""

Vector = tuple[float, float, float]
Segment = tuple[Vector, Vector]
"""Start and end."""

Read = Callable[[Any], Any]
"""Takes a value out of JSON and returns it as a case holds it, or raises one of WRONG."""
WRONG = (ValueError, TypeError, OverflowError, AttributeError)


class FieldError(ValueError):
    """A value that is not what its field must be: the message names the field."""


Field = tuple[str, Read]
"""A description of what a field accepts, and its reader."""


def read_fields(record: Any, fields: Mapping[str, Field], optional: Container[str], of: str = "") -> dict[str, Any]:
    """Return the values of some fields out of a record; ``of`` stands before their names in messages.

    ValueError, naming the first, if there is a field too many or too few, or a value that no sweep writes.
    """
    if not isinstance(record, dict) or (unknown := set(record) - set(fields)):
        what = shortened(record) if not isinstance(record, dict) else f"a field {shortened(min(unknown))}"
        raise ValueError(f"expected an object with the fields {', '.join(fields)}, got {what}")
    values = {}
    for name, (wanted, read) in fields.items():
        if name not in record:
            if name in optional:
                continue
            raise FieldError(f"{of}{name}: expected a value, got none")
        try:
            values[name] = read(record[name])
        except FieldError:
            raise  # of a field of this one
        except WRONG as error:
            raise FieldError(f"{of}{name}: expected {wanted}, got {shortened(record[name])}") from error
    return values


def _if(holds: Callable[[Any], bool], made: Read = lambda value: value) -> Read:
    """Reads values for which something holds, and makes a type of them."""

    def read(value: Any) -> Any:
        if not holds(value):
            raise ValueError
        return made(value)

    return read


_truth = _if(lambda value: isinstance(value, bool))
_number = _if(lambda value: isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value), float)
_setting = _if(lambda value: abs(_number(value)) <= LARGEST, float)
_whole = _if(lambda value: isinstance(value, int) and not isinstance(value, bool) and -1 <= value < 2**63)
_text = _if(lambda value: isinstance(value, str) and len(value) <= MOST_LETTERS and value.isprintable())


def _one_of(known: list[str]) -> Field:
    return (f"one of {', '.join(map(repr, known))}", _if(known.__contains__))


def _none_or(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _many(read: Read, counts: range) -> Read:
    return _if(lambda rows: isinstance(rows, list | tuple) and len(rows) in counts, lambda rows: tuple(map(read, rows)))


def _options(value: Any) -> dict[str, Any]:
    for option in value.values():
        if option is not None and not isinstance(option, bool):
            (_text if isinstance(option, str) else _number)(option)
    return {_text(name): option for name, option in value.items()}


def _setup(value: Any) -> dict[str, Any]:
    return asdict(Setup(**read_fields(value, SETUP, SETUP, "setup's ")))


SETUP = {
    "construction": _one_of(list(CONSTRUCTIONS)),
    "margin": ("null or metres", _none_or(_setting)),
    "spin": ("radians", _setting),
    "moved": ("metres", _setting),
    "stale": ("true or false", _truth),
    "fresh": ("true or false", _truth),
}

_vector = _many(_number, range(3, 4))
_point = _many(_setting, range(3, 4))
_points = _many(_point, range(1, MOST_LIMBS + 1))
_segments = _many(_many(_point, range(2, 3)), range(MOST_SEGMENTS))
_METRES = f"three numbers within {LARGEST:g}"

Text = Annotated[str, (f"printable text of up to {MOST_LETTERS} letters", _text)]
Texts = Annotated[tuple[str, ...], ("names of limbs", _many(_text, range(MOST_LIMBS + 1)))]
KindName = Annotated[str, _one_of([kind.label for kind in Kind])]
CauseName = Annotated[str, _one_of([UNNAMED, *(cause.label for cause in Cause)])]
Settings = Annotated[dict[str, Any], ("settings of PyBullet", _setup)]
Options = Annotated[dict[str, Any], ("names with plain values", _options)]
Whole = Annotated[int, ("a whole number from -1", _whole)]
Number = Annotated[float | None, ("null or a finite number", _none_or(_number))]
Radii = Annotated[tuple[float, ...], (f"numbers within {LARGEST:g}", _many(_setting, range(1, MOST_LIMBS + 1)))]
Point = Annotated[Vector, (_METRES, _point)]
Points = Annotated[tuple[Vector, ...], (f"1 to {MOST_LIMBS:,} points of {_METRES}", _points)]
Direction = Annotated[Vector | None, ("null or three finite numbers", _none_or(_vector))]
Segments = Annotated[tuple[Segment, ...], ("segments, each its start and its end", _segments)]
Earlier = Annotated[
    tuple[tuple[Vector, ...], ...],
    ("nothing, or earlier ends p1 and p2 of the limbs", _many(_points, range(0, 3, 2))),
]
