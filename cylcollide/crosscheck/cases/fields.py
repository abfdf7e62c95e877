"""The fields of a case as JSON has them, each with what it must be: anything else is refused before it is used."""

from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from reprlib import repr as shortened
from typing import Any, NamedTuple

from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.engines._bullet_bodies import CONSTRUCTIONS

UNNAMED = ""
"""The cause of a case that nobody has explained yet."""
MOST_LIMBS, MOST_SEGMENTS, MOST_LETTERS = 10_000, 1_000_000, 200
"""More of them no sweep writes."""
LARGEST = 1e15
"""Metres, radians: greater coordinates and settings no sweep writes; their products are finite."""

Read = Callable[[Any], Any]
"""Takes a value out of JSON and returns it as a case holds it, or raises one of WRONG."""
WRONG = (ValueError, TypeError, OverflowError, AttributeError)


class FieldError(ValueError):
    """A value that is not what its field must be: the message names the field."""


class Field(NamedTuple):
    """What a field must be, in words, how it is read, and what stands for it where a file does not say."""

    wanted: str
    read: Read
    default: Any = ...


def checked(record: Any) -> dict[str, Any]:
    """Return the values of a case out of its record.

    Raises
    ------
    ValueError
        If there is a field too many or too few, or a value that no sweep writes; the message names the first.
    """
    return _read("", FIELDS, record)


def _read(of: str, fields: dict[str, Field], record: Any) -> dict[str, Any]:
    if not isinstance(record, dict) or (unknown := set(record) - set(fields)):
        what = shortened(record) if not isinstance(record, dict) else f"a field {shortened(min(unknown))}"
        raise ValueError(f"expected an object with the fields {', '.join(fields)}, got {what}")
    values = {}
    for name, field in fields.items():
        value = record.get(name, field.default)
        if value is ...:
            raise FieldError(f"{of}{name}: expected a value, got none")
        try:
            values[name] = field.read(value)
        except FieldError:
            raise  # of a field of this one
        except WRONG as error:
            raise FieldError(f"{of}{name}: expected {field.wanted}, got {shortened(value)}") from error
    return values


def _refuse(wrong: bool) -> None:
    if wrong:
        raise ValueError


def _number(value: Any) -> float:
    _refuse(isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(float(value)))
    return float(value)


def _setting(value: Any) -> float:
    _refuse(abs(_number(value)) > LARGEST)
    return float(value)


def _whole(value: Any) -> int:
    _refuse(isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 2**63)
    return int(value)


def _truth(value: Any) -> bool:
    _refuse(not isinstance(value, bool))
    return bool(value)


def _text(value: Any) -> str:
    _refuse(not isinstance(value, str) or len(value) > MOST_LETTERS or not value.isprintable())
    return str(value)


def _one_of(known: list[str]) -> Field:
    def read(value: Any) -> str:
        _refuse(value not in known)
        return str(value)

    return Field(f"one of {', '.join(map(repr, known))}", read)


def _none_or(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _many(read: Read, counts: range) -> Read:
    def rows(value: Any) -> tuple[Any, ...]:
        _refuse(not isinstance(value, list | tuple) or len(value) not in counts)
        return tuple(read(row) for row in value)

    return rows


def _option(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else (_text if isinstance(value, str) else _number)(value)


def _options(value: Any) -> dict[str, Any]:
    _refuse(not isinstance(value, dict))
    for option in value.values():
        _option(option)
    return {_text(name): option for name, option in value.items()}


def _setup(value: Any) -> dict[str, Any]:
    return asdict(Setup(**_read("setup's ", SETUP, value)))


SETUP = {
    "construction": _one_of(list(CONSTRUCTIONS))._replace(default="geom"),
    "margin": Field("null or metres", _none_or(_setting), None),
    "spin": Field("radians", _setting, 0.0),
    "moved": Field("metres", _setting, 0.0),
    "stale": Field("true or false", _truth, False),
    "fresh": Field("true or false", _truth, False),
}

_vector = _many(_number, range(3, 4))
_point = _many(_setting, range(3, 4))
_points = _many(_point, range(1, MOST_LIMBS + 1))
_segments = _many(_many(_point, range(2, 3)), range(MOST_SEGMENTS))
_NAME = Field(f"printable text of up to {MOST_LETTERS} letters", _text)
_PLACE = Field("a whole number from -1", _whole)
_METRES = f"three numbers within {LARGEST:g}"
_POINTS = Field(f"1 to {MOST_LIMBS:,} points of {_METRES}", _points)
_POINT = Field(_METRES, _point)
_MAYBE = Field("null or a finite number", _none_or(_number))
_DIRECTION = Field("null or three finite numbers", _none_or(_vector))
_CALL = Field("segments, each its start and its end", _segments, ())

FIELDS = {
    "family": _NAME,
    **dict.fromkeys(("seed", "chunk", "scene", "row"), _PLACE),
    "kind": _one_of([kind.label for kind in Kind]),
    "cause": _one_of([UNNAMED, *(cause.label for cause in Cause)]),
    "setup": Field("settings of PyBullet", _setup),
    **dict.fromkeys(("p1", "p2"), _POINTS),
    "radius": Field(f"numbers within {LARGEST:g}", _many(_setting, range(1, MOST_LIMBS + 1))),
    **dict.fromkeys(("start", "end"), _POINT),
    **dict.fromkeys(("limb_true", "limb_engine"), _PLACE),
    **dict.fromkeys(("fraction_true", "fraction_engine"), _MAYBE),
    **dict.fromkeys(("normal_true", "normal_engine"), _DIRECTION),
    **dict.fromkeys(("amount", "measured", "bound"), _MAYBE),
    "engine": _NAME._replace(default="bullet"),
    "options": Field("names with plain values", _options, {}),
    "names": Field("names of limbs", _many(_text, range(MOST_LIMBS + 1)), ()),
    "before": _CALL,
    "after": _CALL,
    "was": Field("nothing, or earlier ends p1 and p2 of the limbs", _many(_points, range(0, 3, 2)), ()),
}
