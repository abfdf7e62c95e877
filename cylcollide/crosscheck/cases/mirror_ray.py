"""A segment that `RayExplanation.save` wrote, cast again: its shapes as bodies of a new client, with a mirror."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from cylcollide._pybullet import connect, pybullet
from cylcollide.bullet.arguments import growth
from cylcollide.bullet.explain import FORMAT, RayExplanation
from cylcollide.bullet.mirror import Mirror
from cylcollide.crosscheck.cases.case import MOST_BYTES, MOST_LIMBS, Point, Vector, foreign
from cylcollide.crosscheck.records import JsonObject, Number, Text, Whole, refusal, such_that
from cylcollide.engines.bullet import add_body, bodies
from cylcollide.limbs.limbs import Limbs

Size = Annotated[Number, Field(ge=0.0)]
Many = Field(max_length=MOST_LIMBS)


class _Limb(BaseModel, extra="forbid"):
    shape: Literal["box", "capsule", "cylinder", "sphere"]
    p1: Point
    p2: Point
    radius: Size
    half_extents: Point
    turn: tuple[Number, Number, Number, Number]
    margin: Size


class _Plane(BaseModel, extra="forbid"):
    point: Point
    normal: Vector


class _Ray(BaseModel, extra="forbid"):
    """The contents of a file that `RayExplanation.save` writes."""

    format: Annotated[str, such_that(FORMAT.__eq__, FORMAT)]
    start: Point
    end: Point
    inside: Literal["bullet", "exit", "hit", "ignore"]
    tolerance: Size
    limbs: Annotated[tuple[_Limb, ...], Many]
    planes: Annotated[tuple[_Plane, ...], Many]
    names: tuple[Text, ...]
    ours: Whole
    theirs: Whole


def read_ray(path: Path) -> JsonObject | None:
    """The contents of a file of a mirror's ray, None for another file; ValueError, in one line, if it is damaged."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES)
    if path.suffix == ".npz" or FORMAT.encode() not in text:
        return None
    try:
        record = _Ray.model_validate(json.loads(text.decode())).model_dump()
        count = len(record["limbs"]) + len(record["planes"])
        if len(record["names"]) != count or max(record["ours"], record["theirs"]) >= count:
            raise ValueError(f"expected {count} names, and answers below it")
        growth(record["tolerance"], "tolerance")
        for row in record["limbs"]:
            _limb(row)
    except (ValueError, RecursionError) as error:
        said = ValueError(refusal(error)) if isinstance(error, ValidationError) else error
        raise foreign(path, "a ray as `RayExplanation.save` writes it", said) from error
    return record


def _limb(row: dict[str, Any]) -> Limbs:
    """One limb of a file."""
    if row["shape"] == "box":
        return Limbs.boxes(row["p1"], row["turn"], row["half_extents"])
    if row["shape"] == "sphere":
        return Limbs.spheres(row["p1"], row["radius"])
    make = Limbs.capsules if row["shape"] == "capsule" else Limbs.cylinders
    return make(row["p1"], row["p2"], row["radius"])


def replay_ray(record: JsonObject) -> RayExplanation:
    """The explanation of the segment in a client with only its shapes, with their original names."""
    client = connect()
    try:
        rows = record["limbs"]
        for row, body in zip(rows, bodies(Limbs.concat(list(map(_limb, rows)))) if rows else [], strict=True):
            number = add_body(body, "geom", Path(), client)
            if row["margin"]:
                pybullet.changeDynamics(number, -1, collisionMargin=row["margin"], physicsClientId=client)
        for plane in record["planes"]:
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_PLANE, planeNormal=plane["normal"], physicsClientId=client
            )
            pybullet.createMultiBody(0, shape, basePosition=plane["point"], physicsClientId=client)
        pybullet.performCollisionDetection(physicsClientId=client)
        mirror = Mirror(client, inside=record["inside"], tolerance=record["tolerance"])
        found = mirror.explain(record["start"], record["end"])
        return replace(found, names={place: record["names"][place[0]] for place in found.names})
    finally:
        pybullet.disconnect(client)


def is_reproduced(record: JsonObject, found: RayExplanation) -> bool:
    """Whether both answers are as recorded."""
    return (found.ours[0], found.theirs[0]) == (record["ours"], record["theirs"])
