"""Checks of the parts of a policy; messages name the argument and the group."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from cylcollide import validate
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.validate import shown

Kind: TypeAlias = Literal["first_surface", "most_important", "longest_chord", "penetration"]
KINDS: tuple[Kind, ...] = ("first_surface", "most_important", "longest_chord", "penetration")
"""Kinds of policies, in the order of their codes in `query.loops.judge`."""

Group: TypeAlias = str | int
"""A hit group, by name or number."""

Weights: TypeAlias = Mapping[Group, float] | Mapping[str, float] | Mapping[int, float]
"""A number for each group, and for "default"."""

DEFAULT = "default"
"""The key for all groups that are not listed."""

SMALLEST, LARGEST = -(2**31), 2**31 - 1


def group(value: Any, where: str) -> Group:
    """A checked group: a name, or a 32-bit integer."""
    if isinstance(value, str) and value:
        return value
    if validate.is_integer(value) and SMALLEST <= int(value) <= LARGEST:
        return int(value)
    raise ValueError(f"{where}: expected a hit group by name or by a number of 32 bits, got {shown(value)}")


def group_number(value: Any, where: str, numbers: Mapping[str, int], source: str = "the rigs in the world") -> int:
    """The number of a hit group, given by number or name; `source`: where names come from, for the message."""
    name = group(value, where)
    if isinstance(name, int):
        return name
    if name not in numbers:
        known = ", ".join(f"{known!r} {number}" for known, number in numbers.items()) or "none"
        raise ValueError(f"{where}: expected a hit group of {source} (known: {known}), got {name!r}; give its number")
    return numbers[name]


def weights(values: Any, where: str) -> Mapping[Group, float]:
    """Numbers from 0 to 2**500 by group, read-only."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}: expected a mapping from hit groups to numbers, got {shown(values)}")
    checked: dict[Group, float] = {}
    for key, value in values.items():
        name = group(key, where)
        number = validate.one_number(value)
        if not 0.0 <= number <= LARGEST_NUMBER:  # or NaN
            raise ValueError(f"{where}: expected a number from 0 to 2**500 for {name!r}, got {shown(value)}")
        checked[name] = number
    return MappingProxyType(checked)


def with_default(values: Any, default: Any) -> Any:
    """Weights with a default, if given, for all groups that they do not list."""
    if default is None or not isinstance(values, Mapping):
        return values
    if DEFAULT in values:
        raise ValueError(f"default: expected it once, got {shown(default)}, and {shown(values[DEFAULT])} as a key")
    return {**values, DEFAULT: default}


def order(values: Any) -> tuple[Group, ...]:
    """Checked groups, all different."""
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    if not several or getattr(values, "ndim", 1) == 0:
        raise ValueError(f"order: expected a list of hit groups, the most important first, got {shown(values)}")
    checked = tuple(group(value, "order") for value in values)
    for position, one in enumerate(checked):
        if one in checked[:position] or one == DEFAULT:
            what = "once" if one != DEFAULT else "by name or number; those that are left out come last"
            raise ValueError(f"order: expected each hit group {what}, got {one!r} at position {position}")
    return checked


def groups(values: Any, reserved: str = DEFAULT) -> Mapping[str, int]:
    """32-bit integers by name, read-only; `reserved` is not allowed as a name."""
    if not isinstance(values, Mapping):
        raise ValueError(f"groups: expected a mapping of names to numbers, got {shown(values)}")
    for name, number in values.items():
        is_number = validate.is_integer(number) and SMALLEST <= int(number) <= LARGEST
        if not isinstance(name, str) or name in ("", reserved) or not is_number:
            other = f" other than {reserved!r}" if reserved else ""
            raise ValueError(
                f"groups: expected a name{other} and an integer of 32 bits, got {shown(name)}: {shown(number)}"
            )
    return MappingProxyType({str(name): int(number) for name, number in values.items()})


def numbered(values: Mapping[Group, float], where: str, numbers: Mapping[str, int]) -> dict[int, float]:
    """Weights with all groups by number, in order, without "default".

    ValueError if a name is unknown, or two names or numbers denote the same group.
    """
    found: dict[int, Group] = {}
    for one in values:
        if one == DEFAULT:
            continue
        number = group_number(one, f"policy, {where}", numbers, "the rigs in the world, or of groups= of the policy")
        if number in found:
            raise ValueError(
                f"policy, {where}: expected each hit group once, got {found[number]!r} and {one!r}, which are both "
                f"group {number}"
            )
        found[number] = one
    return {number: values[one] for number, one in found.items()}
