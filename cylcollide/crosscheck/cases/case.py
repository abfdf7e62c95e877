"""One disagreement in repeatable form: limbs and their construction, segment, both answers, cause."""

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from math import dist
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from cylcollide.crosscheck.compare.comparison import Cast, Comparison
from cylcollide.crosscheck.compare.disagreements import NOT_SOUGHT, Cause, Disagreements, Kind
from cylcollide.crosscheck.engine import Setup
from cylcollide.crosscheck.generate.shots import ShotScene, shots
from cylcollide.crosscheck.records import (
    JsonObject,
    Length,
    Number,
    Text,
    Truth,
    Whole,
    one_line,
    plain,
    refusal,
    such_that,
    write_json,
)
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.files import Columns, read_columns
from cylcollide.query.hits import RayHits

BULLET = "bullet"
"""The engine with setups: PyBullet's name in :mod:`cylcollide.engines.registry`."""

UNKNOWN = -1
"""The seed of a case whose file does not name one."""
UNNAMED = ""
"""The cause of a case whose cause was not sought."""

KINDS = tuple(kind.label for kind in Kind)
CAUSES = (UNNAMED, *(cause.label for cause in Cause))

MOST_LIMBS, MOST_SEGMENTS = 10_000, 1_000_000
"""Largest numbers of limbs and segments in a case; no sweep writes more."""
MOST_BYTES = 2**28
"""Largest size of a file of cases in bytes: a thousand times the output of a sweep of a million segments."""
LONGEST_MESSAGE = 500
"""Largest number of characters in an error about a foreign file."""

Vector = tuple[Number, Number, Number]
Point = tuple[Length, Length, Length]
Segment = tuple[Point, Point]
"""Start and end."""
Points = Annotated[tuple[Point, ...], Field(min_length=1, max_length=MOST_LIMBS)]
Segments = Annotated[tuple[Segment, ...], Field(max_length=MOST_SEGMENTS)]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Case:
    """One disagreement. Lengths are in metres; JSON keeps every bit of numbers; pydantic checks the types of a file."""

    family: Text
    seed: Whole
    chunk: Whole
    scene: Whole
    row: Whole
    kind: Annotated[Text, such_that(KINDS.__contains__, f"one of {', '.join(KINDS)}")]
    cause: Annotated[Text, such_that(CAUSES.__contains__, f"one of {', '.join(CAUSES[1:])}, or nothing")]
    setup: Setup
    p1: Points
    p2: Points
    radius: Annotated[tuple[Length, ...], Field(min_length=1, max_length=MOST_LIMBS)]
    start: Point
    end: Point
    limb_true: Whole
    limb_engine: Whole
    fraction_true: Number | None
    fraction_engine: Number | None
    normal_true: Vector | None
    normal_engine: Vector | None
    amount: Number | None
    measured: Number | None
    bound: Number | None
    engine: Text = BULLET  # name in the registry of engines
    options: dict[Text, Truth | Whole | Number | Text | None] = field(default_factory=dict)  # if not by `setup`
    names: Annotated[tuple[Text, ...], Field(max_length=MOST_LIMBS)] = ()  # of the limbs; empty: indices are used
    before: Segments = ()  # cast in the same call, if the disagreement needs them
    after: Segments = ()
    was: tuple[()] | tuple[Points, Points] = ()  # p1 and p2 at the engine's build, before it moved the limbs

    @property
    def limbs(self) -> Limbs:
        """The limbs in this library."""
        return Limbs.cylinders(self.p1, self.p2, self.radius)

    @property
    def length(self) -> float:
        """Length of the segment, metres."""
        return dist(self.start, self.end)

    @property
    def kind_code(self) -> Kind:
        """The kind."""
        return next(kind for kind in Kind if kind.label == self.kind)

    @property
    def cause_code(self) -> Cause:
        """The cause; one that was not sought counts as unexplained."""
        return next((cause for cause in Cause if cause.label == self.cause), Cause.UNEXPLAINED)

    @property
    def place(self) -> tuple[str, int, int, int, int, int]:
        """The place in the sweep, by which cases are ordered."""
        return (self.family, self.seed, self.chunk, self.scene, self.row, int(self.kind_code))

    @property
    def address(self) -> str:
        """The place as text, ``rim/0/2/5/117``; two kinds of one segment share it. ``-``: unknown."""
        return "/".join(map(str, (self.family, *("-" if n == UNKNOWN else n for n in self.place[1:-1]))))

    def name(self, limb: int) -> str:
        """The name of a limb."""
        return self.names[limb].replace("_", " ") if self.names else f"limb {limb}"

    @property
    def limb(self) -> int:
        """The limb of the disagreement: the engine's, else the true one, else the first."""
        return max(self.limb_engine if self.limb_engine >= 0 else self.limb_true, 0)

    @property
    def about(self) -> tuple[int, ...]:
        """Indices of the relevant limbs: the true one and the engine's, each once; all if both sides miss."""
        named = sorted({limb for limb in (self.limb_true, self.limb_engine) if limb >= 0})
        return tuple(named or range(len(self.radius)))

    def record(self) -> JsonObject:
        """The case as a JSON object."""
        return asdict(self)

    @staticmethod
    def read(record: JsonObject) -> "Case":
        """The case of a ``record``, also after JSON; ValueError, naming the field, if it is not one."""
        try:
            case = _reader().validate_python(record)
        except ValidationError as error:
            raise ValueError(refusal(error)) from error
        count = len(case.p1)
        sized = {"p2": case.p2, "radius": case.radius, **{f"was ({i})": ends for i, ends in enumerate(case.was, 1)}}
        for name, rows in (sized | ({"names": case.names} if case.names else {})).items():
            if len(rows) != count:
                raise ValueError(f"{name}: expected {count} rows, as many as in p1, got {len(rows)}")
        for name in ("limb_true", "limb_engine"):
            if getattr(case, name) >= count:
                raise ValueError(f"{name}: expected -1 to {count - 1}, got {getattr(case, name)}")
        if case.kind_code == Kind.LOST and not 1 <= (case.bound or 0) <= MOST_SEGMENTS:
            raise ValueError(f"bound: expected 1 to {MOST_SEGMENTS:,} segments of the call, got {case.bound}")
        return case


@cache
def _reader() -> TypeAdapter[Case]:
    return TypeAdapter(Case)


def write_cases(path: Path, cases: Case | list[Case]) -> None:
    """Write cases, or one, as JSON that ``read_cases`` reads."""
    write_json(path, cases.record() if isinstance(cases, Case) else [case.record() for case in cases], indent=1)


def read_cases(path: Path) -> list[Case]:
    """Read what ``write_cases`` wrote; ValueError, in one line, if the file holds something else."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes, got more")
        records = json.loads(text.decode())
        return [Case.read(record) for record in (records if isinstance(records, list) else [records])]
    except (ValueError, RecursionError) as error:
        raise foreign(path, "cases as `cylcollide crosscheck --families` writes them", error) from error


def foreign(path: Path, wanted: str, error: Exception) -> ValueError:
    """The error for a file with other contents: one short line."""
    said = one_line(error, named=True)[:LONGEST_MESSAGE]
    return ValueError(f"{path}: expected {wanted}, got {said}; write the file anew")


def tuples(values: Any) -> Any:
    """Numbers, or lists of them to any depth, with tuples in place of lists, as in a case."""
    return tuple(map(tuples, values)) if isinstance(values, list | tuple) else values


def vector(row: Any) -> Vector | None:
    """Three Python numbers, or None if one of them is nan."""
    return tuples(row.tolist()) if np.isfinite(row).all() else None


def explained(found: Disagreements, at: int) -> JsonObject:
    """Kind, cause and numbers of one disagreement, as fields of a case."""
    numbers = {name: plain(getattr(found, name)[at]) for name in ("amount", "measured", "bound")}
    cause = UNNAMED if found.cause[at] == NOT_SOUGHT else Cause(found.cause[at]).label
    return {"kind": Kind(found.kind[at]).label, "cause": cause, **numbers}


def both_answers(ours: RayHits | EngineHits, theirs: EngineHits, row: int) -> JsonObject:
    """The answers of both sides to a segment, as fields of a case."""
    sides = {"true": ours, "engine": theirs}
    return {
        **{f"limb_{side}": int(hits.limb[row]) for side, hits in sides.items()},
        **{f"fraction_{side}": plain(hits.fraction[row]) for side, hits in sides.items()},
        **{f"normal_{side}": vector(hits.normal[row]) for side, hits in sides.items()},
    }


def case_of(scene: ShotScene, row: int, ours: RayHits | EngineHits, theirs: EngineHits, /, **others: Any) -> Case:
    """One segment of a scene with the answers of both sides; ``others`` are its other fields, or replace these."""
    ends = {"start": scene.shots.start[row], "end": scene.shots.end[row]}
    lengths = {"p1": scene.p1, "p2": scene.p2, "radius": scene.radius, **ends}
    shown = {name: tuples(values.tolist()) for name, values in lengths.items()}
    shown |= {"setup": scene.setup, "was": tuples([ends.tolist() for ends in scene.was or ()])}
    return Case(**(shown | both_answers(ours, theirs, row) | others))


def case_at(both: Comparison, row: int, cast: Cast, /, **others: Any) -> Case:
    """One segment of a compared scene, with the others of its call if the engine's answer depends on them."""
    scene = both.truth.scene
    first, end = (row, row + 1) if scene.whole_batch else both.call_of(row, cast)
    segments = tuples(np.stack([scene.shots.start, scene.shots.end], axis=1)[first:end].tolist())
    others |= {"before": segments[: row - first], "after": segments[row - first + 1 :]}
    return case_of(scene, row, both.ours, both.theirs, **others)


RAYS_SCHEMA = 1
"""Version of ``rays.npz``."""
PLACE = "FAMILY/SEED/CHUNK/SCENE/ROW"


def read_chosen(path: Path, row: int | None, place: str | None) -> list[Case]:
    """Read all cases of a file of JSON or of ``rays.npz``, the one of a row, from 0, or those at a ``Case.address``.

    ValueError, in one line, if the file holds something else, or has no such row or place.
    """
    if row is not None and place is not None:
        raise ValueError("expected --row or --place, got both; leave one of them out")
    cases = _read_rays(path) if path.suffix == ".npz" else read_cases(path)
    if not cases:
        raise ValueError(f"{path}: expected at least one case, got none; there is nothing to replay")
    if row is not None:
        if not 0 <= row < len(cases):
            raise ValueError(f"--row: expected 0 to {len(cases) - 1}, the rows of {path}, got {row}")
        return [cases[row]]
    if place is not None:
        found = [case for case in cases if case.address == place]
        if not found:
            such = cases[0].address
            raise ValueError(f"--place: expected {PLACE} of a case of {path}, such as {such}, got {place!r}")
        return found
    return cases


def _read_rays(path: Path) -> list[Case]:
    try:
        columns = read_columns(path, "cylcollide crosscheck")
        if int(columns["schema"]) != RAYS_SCHEMA:
            raise ValueError(f"schema {columns['schema']}, not {RAYS_SCHEMA}")
        return [_case_of_ray(columns, row) for row in range(len(columns["ray"]))]
    except OSError:
        raise
    except Exception as error:  # NumPy's error for a foreign array
        raise foreign(path, "rays as `cylcollide crosscheck` writes them", error) from error


def _case_of_ray(rays: Columns, row: int) -> Case:
    """One row as a case without a cause; its place has the pose as scene and the bullet's number as row."""
    pose, kind, this = int(rays["pose"][row]), str(rays["kinds"][rays["kind"][row]]), slice(row, row + 1)
    segment = shots(rays["start"][this], rays["end"][this])
    scene = ShotScene(rays["pose_p1"][pose], rays["pose_p2"][pose], rays["limb_radius"], segment)
    names = ("limb", "fraction", "position", "normal")
    true, engine = (EngineHits(*(rays[f"{name}_{side}"][this] for name in names)) for side in ("true", "engine"))
    apart = float(np.linalg.norm(true.position[0] - engine.position[0]))
    family, seed = str(rays["families"][rays["family"][row]]), int(rays.get("seed", UNKNOWN))
    place = {"family": family, "seed": seed, "chunk": 0, "scene": pose, "row": int(rays["ray"][row])}
    amount = apart if kind == "wrong limb" else plain(float(rays["clearance"][row]))
    numbers = {"kind": kind, "cause": UNNAMED, "amount": amount, "measured": None, "bound": None}
    case = case_of(scene, 0, true, engine, **place, **numbers, names=[str(name) for name in rays["limb_names"]])
    return Case.read(case.record())
