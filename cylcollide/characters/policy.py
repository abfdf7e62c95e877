"""Policies: which limb of a shot counts, and the damage of the shot. Data only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide.characters import json_text, policy_checks
from cylcollide.characters.json_text import refuse, shown
from cylcollide.characters.policy_checks import DEFAULT, KINDS, Group, Kind, Weights
from cylcollide.process import files
from cylcollide.process.signatures import Shown
from cylcollide.query.loops.judge import PolicyRows

FORMAT = "cylcollide policy"

NO_WEIGHTS: Mapping[Group, float] = MappingProxyType({})
NO_GROUPS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Policy(metaclass=Shown):
    """A table that defines which limb of a shot counts, and the damage of the shot; immutable.

    Make one with `Policy.first_surface`, `most_important`, `longest_chord` or `penetration`, which
    share these arguments:

    - `damage`: factor by hit group, at least 0. Damage is the factor times the energy at the entry
      of the limb that counts; for penetration, times the energy lost.
    - `default`: the factor of groups that `damage` does not name. The key "default" of `damage`
      has the same meaning; the key "default" of `loss` is for losses. Without a default the factor
      of such groups is 1, their loss 0. A static takes damage only if `damage` names its group.
    - `groups`: numbers of hit groups by name. The rigs in the world define all other names.

    Groups are given by name or number. Bad input raises ValueError.
    """

    kind: Kind
    order: tuple[Group, ...] = ()
    """Groups, the most important first; unlisted groups come last."""
    damage: Mapping[Group, float] = field(default_factory=lambda: NO_WEIGHTS)
    """Factor by group, read-only."""
    loss: Mapping[Group, float] = field(default_factory=lambda: NO_WEIGHTS)
    """Energy lost per length by group, read-only."""
    groups: Mapping[str, int] = field(default_factory=lambda: NO_GROUPS)
    """Numbers of groups by name, read-only."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {validate.shown(self.kind)}")
        vars(self).update(
            order=policy_checks.order(self.order),
            damage=policy_checks.weights(self.damage, "damage"),
            loss=policy_checks.weights(self.loss, "loss"),
            groups=policy_checks.groups(self.groups),
        )

    def __repr__(self) -> str:
        """The call that constructs the policy."""
        fields = {"order": list(self.order)} | {
            name: dict(getattr(self, name)) for name in ("damage", "loss", "groups")
        }
        needed = "loss" if self.kind == "penetration" else ""
        given = ", ".join(f"{name}={value!r}" for name, value in fields.items() if value or name == needed)
        return f"Policy.{self.kind}({given})"

    @classmethod
    def first_surface(
        cls, damage: Weights = NO_WEIGHTS, default: float | None = None, groups: Mapping[str, int] = NO_GROUPS
    ) -> Policy:
        """The limb that is entered first counts."""
        return cls("first_surface", (), policy_checks.with_default(damage, default), NO_WEIGHTS, groups)

    @classmethod
    def most_important(
        cls,
        order: Iterable[Group],
        damage: Weights = NO_WEIGHTS,
        default: float | None = None,
        groups: Mapping[str, int] = NO_GROUPS,
    ) -> Policy:
        """Of the character entered first, the limb whose group comes first in `order`; ties by entry.

        Groups that `order` does not list come last.
        """
        ranked: Any = order
        return cls("most_important", ranked, policy_checks.with_default(damage, default), NO_WEIGHTS, groups)

    @classmethod
    def longest_chord(
        cls, damage: Weights = NO_WEIGHTS, default: float | None = None, groups: Mapping[str, int] = NO_GROUPS
    ) -> Policy:
        """Of the character that is entered first, the limb with the longest chord; ties by entry."""
        return cls("longest_chord", (), policy_checks.with_default(damage, default), NO_WEIGHTS, groups)

    @classmethod
    def penetration(
        cls,
        loss: Weights | float,
        damage: Weights = NO_WEIGHTS,
        default: float | None = None,
        groups: Mapping[str, int] = NO_GROUPS,
    ) -> Policy:
        """The shot passes through limbs and characters until its energy is spent.

        `loss` is the energy lost per length, one for all groups or by group. Overlapping limbs of
        one character count once along their union, by the group that is entered first.
        """
        losses: Any = loss if isinstance(loss, Mapping) else {DEFAULT: loss}
        return cls("penetration", (), policy_checks.with_default(damage, default), losses, groups)

    def __hash__(self) -> int:
        weights = (frozenset(mapping.items()) for mapping in (self.damage, self.loss, self.groups))
        return hash((self.kind, self.order, *weights))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Copy and pickle by JSON."""
        return Policy.from_json, (self.to_json(),)

    def to_json(self) -> str:
        """The policy as JSON, by `policy.schema.json`."""
        pairs = {name: [list(pair) for pair in getattr(self, name).items()] for name in ("damage", "loss")}
        head = {"format": FORMAT, "version": json_text.VERSION, "kind": self.kind, "order": list(self.order)}
        return json.dumps({**head, **pairs, "groups": dict(self.groups)})

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """The policy that `to_json` wrote; ValueError if the text is anything else."""
        return cls._read(text, "policy")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a file of JSON; the old file is replaced in one step."""
        files.write_text(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Read a policy that `save` wrote.

        OSError if the file cannot be opened. ValueError if it is not a file of a policy, or holds
        one that no constructor accepts; the message names file and field.
        """
        return cls._read(Path(path).read_bytes(), str(path))

    @classmethod
    def _read(cls, text: str | bytes, source: str) -> Policy:
        with files.named_in_errors(source, json_text.SEE.format("policy.schema.json")):
            fields = json_text.content_of(text, FORMAT, ("kind", "order", "damage", "loss", "groups"))
            return cls(**{**fields, **{name: _mapping(fields[name], name) for name in ("damage", "loss")}})

    @cached_property
    def _known_rows(self) -> dict[tuple[tuple[str, int], ...], PolicyRows]:
        return {}

    def _rows(self, group_names: Mapping[str, int]) -> PolicyRows:
        """The arrays that loops read, for a world whose rigs have these names of hit groups.

        ValueError if a name is unknown, or two names or numbers denote the same group.
        """
        key = tuple(group_names.items())
        found = self._known_rows.get(key)
        if found is None:
            found = self._known_rows[key] = self._resolved({**group_names, **self.groups})
        return found

    def _resolved(self, numbers: Mapping[str, int]) -> PolicyRows:
        order = policy_checks.numbered(dict.fromkeys(self.order, 0.0), "order", numbers)
        damage = policy_checks.numbered(self.damage, "damage", numbers)
        loss = policy_checks.numbered(self.loss, "loss", numbers)
        group = sorted({*order, *damage, *loss})
        rank = {number: position for position, number in enumerate(order)}
        factors, losses = self.damage.get(DEFAULT, 1.0), self.loss.get(DEFAULT, 0.0)
        return PolicyRows(
            KINDS.index(self.kind),
            np.array(group, np.int32),
            np.array([*(damage.get(number, factors) for number in group), factors]),
            np.array([*(damage.get(number, 0.0) for number in group), 0.0]),
            np.array([*(loss.get(number, losses) for number in group), losses]),
            np.array([*(rank.get(number, len(rank)) for number in group), len(rank)], np.int32),
        )


def _mapping(value: Any, where: str) -> dict[Any, Any]:
    """A list of pairs as a mapping: keys of JSON objects cannot be numbers."""
    if not isinstance(value, list):
        refuse(where, "a list of pairs", shown(value))
    for row, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int):
            refuse(f"{where}[{row}]", "a hit group and a number", shown(pair))
    if len({(type(one), one) for one, _ in value}) != len(value):
        refuse(where, "each hit group once", shown(value))
    return dict(value)
