"""One disagreement that can be asked again: the limbs, how they are built, the segment, both answers, the cause."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cylcollide.crosscheck.causes.names import Cause, Kind
from cylcollide.crosscheck.families.scene import Scene
from cylcollide.crosscheck.setup import Setup
from cylcollide.limbs import Limbs

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Case:
    """Numbers as they were, so that JSON gives back the same float64; lengths in metres."""

    family: str
    seed: int
    chunk: int
    scene: int
    row: int
    kind: str  # label of Kind
    cause: str  # label of Cause
    setup: dict[str, Any]
    p1: tuple[Vector, ...]
    p2: tuple[Vector, ...]
    radius: tuple[float, ...]
    start: Vector
    end: Vector
    limb_true: int
    limb_engine: int
    fraction_true: float | None
    fraction_engine: float | None
    normal_true: Vector | None
    normal_engine: Vector | None
    amount: float | None
    measured: float | None
    bound: float | None

    @property
    def limbs(self) -> Limbs:
        """The world, as this library holds it."""
        return Limbs.cylinders(self.p1, self.p2, self.radius)

    @property
    def built(self) -> Setup:
        """How the engine held it."""
        return Setup(**self.setup)

    @property
    def kind_code(self) -> Kind:
        """The kind."""
        return next(kind for kind in Kind if kind.label == self.kind)

    @property
    def cause_code(self) -> Cause:
        """The cause."""
        return next(cause for cause in Cause if cause.label == self.cause)

    @property
    def place(self) -> tuple[str, int, int, int, int, int]:
        """Where it stands in its sweep, for an order that depends on nothing else."""
        return (self.family, self.seed, self.chunk, self.scene, self.row, int(self.kind_code))

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def read(cls, record: dict[str, Any]) -> Self:
        """Read what ``record`` gave, through JSON or not."""
        many = {name: tuple(tuple(row) for row in record[name]) for name in ("p1", "p2")}
        one = {
            name: None if record[name] is None else tuple(record[name])
            for name in ("radius", "start", "end", "normal_true", "normal_engine")
        }
        return cls(**{**record, **many, **one})


def write_cases(path: Path, cases: list[Case]) -> None:
    """Write cases as JSON."""
    path.write_text(json.dumps([case.record() for case in cases], indent=1, allow_nan=False) + "\n", encoding="utf-8")


def read_cases(path: Path) -> list[Case]:
    """Read what ``write_cases`` wrote.

    Raises
    ------
    ValueError
        If the file holds something else; the message is one line.
    """
    try:
        return [Case.read(record) for record in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"{path}: expected cases as `cylcollide crosscheck --families` writes them, got "
            f"{type(error).__name__}: {' '.join(str(error).split())}; write the file anew"
        ) from error


def plain(number: float) -> float | None:
    """Return a Python number, or None for nan, which JSON does not have."""
    return None if not np.isfinite(number) else float(number)


def vector(row: Any) -> Vector | None:
    """Three Python numbers, or None if one of them is nan."""
    return None if not np.isfinite(row).all() else (float(row[0]), float(row[1]), float(row[2]))


def ends(scene: Scene) -> dict[str, Any]:
    """The limbs of a scene as a case holds them."""
    return {
        "p1": tuple(tuple(row) for row in scene.p1.tolist()),
        "p2": tuple(tuple(row) for row in scene.p2.tolist()),
        "radius": tuple(scene.radius.tolist()),
    }
