"""Rigs in files: human-readable JSON, described by `rig.schema.json`, and checked on loading."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import ALL_LAYERS, NO_CHARACTER, Float64Array, Shape
from cylcollide.characters import json_text
from cylcollide.characters.json_text import check_fields, refuse, shown
from cylcollide.characters.rig_data import RigData
from cylcollide.kernels.traits import TRAITS
from cylcollide.limbs import files
from cylcollide.limbs.limbs import Limbs
from cylcollide.shapes import SHAPE_RECORDS, Ends

FORMAT = "cylcollide rig"

LABELS: Mapping[str, Any] = {"name": "", "hit_group": 0, "mask": ALL_LAYERS, "character": NO_CHARACTER}
"""The optional fields of a limb, with their defaults."""

Fields: TypeAlias = Mapping[str, tuple[str, tuple[int, ...]]]
"""Fields of a file: the column and the shape of each."""

BOTH_ENDS: Fields = {"p1": ("p1", (3,)), "p2": ("p2", (3,))}
CENTER: Fields = {"center": ("p1", (3,))}
AXES: Fields = {"axes": ("axes", (3, 3)), "half_extents": ("half_extents", (3,))}
SIZES: Mapping[Shape, Fields] = {
    shape: {
        **(CENTER if SHAPE_RECORDS[shape].ends == Ends.ONE else BOTH_ENDS),
        **dict(zip(SHAPE_RECORDS[shape].sizes, (("radius", ()), ("radius2", ())), strict=False)),
        **(AXES if TRAITS[shape].has_axes else {}),
    }
    for shape in Shape
}

SHAPES = {shape.name.lower(): shape for shape in SIZES}
BONE = ("name", "parent", "position", "orientation")
KINDS = {list: "a list", str: "a string", int: "an integer"}
T = TypeVar("T", list[Any], str, int)


def text_of(rig: RigData, indent: int | None = None) -> str:
    """A rig as JSON."""
    names, columns = rig.bone_names, (rig.parents, rig.rest_positions, rig.rest_orientations)
    bones = [
        {"name": name, "parent": names[parent] if parent >= 0 else None, "position": at, "orientation": turn}
        for name, parent, at, turn in zip(names, *(column.tolist() for column in columns), strict=True)
    ]
    content = {"format": FORMAT, "version": json_text.VERSION, "groups": dict(rig.groups), "bones": bones}
    rows = [_limb(rig.limbs, i, names[bone]) for i, bone in enumerate(rig.limb_bone.tolist())]
    return json.dumps({**content, "limbs": rows}, indent=indent)


def _limb(limbs: Limbs, i: int, bone: str) -> dict[str, Any]:
    """One limb as a JSON object; labels with their default are omitted."""
    shape, table = Shape(limbs.kind[i]), limbs._table
    columns = {"p1": table.p1[i], "p2": table.p2[i], "radius": table.radius[i], "radius2": table.radius2[i]}
    if table.box[i] >= 0:
        box = table.boxes[table.box[i]]
        columns |= {"axes": box[:9].reshape(3, 3), "half_extents": box[9:]}
    labels = {
        "name": limbs.names[i], "hit_group": int(limbs.hit_group[i]), "mask": int(table.mask[i]),
        "character": int(table.character[i]),
    }  # fmt: skip
    sizes = {field: columns[column].tolist() for field, (column, _) in SIZES[shape].items()}
    kept = {field: label for field, label in labels.items() if label != LABELS[field]}
    return {**kept, "bone": bone, "shape": shape.name.lower(), **sizes}


def read(text: bytes) -> tuple[Any, ...]:
    """The arguments of `Rig.__init__` from JSON; their form and the limbs are checked, but not the skeleton.

    ValueError if it is no rig, or holds limbs that no constructor accepts; the message names field and row.
    """
    content = json_text.content_of(text, FORMAT, ("bones", "limbs"), ("groups",))
    bones, rows = (_typed(list, field, content[field]) for field in ("bones", "limbs"))
    for i, bone in enumerate(bones):
        check_fields(f"bones[{i}]", bone, BONE)
    names = [_typed(str, f"bones[{i}].name", bone["name"]) for i, bone in enumerate(bones)]
    parents = [
        -1 if bone["parent"] is None else _bone(f"bones[{i}].parent", bone["parent"], names)
        for i, bone in enumerate(bones)
    ]
    at, turn = (
        np.array([_numbers(f"bones[{i}].{field}", bone[field], (n,)) for i, bone in enumerate(bones)])
        for field, n in (("position", 3), ("orientation", 4))
    )
    limbs = _limbs(rows)
    limb_bones = [_bone(f"limbs[{i}].bone", row["bone"], names) for i, row in enumerate(rows)]
    return names, parents, at, turn, limbs, limb_bones, content.get("groups", {})


def _limbs(rows: list[Any]) -> Limbs:
    """The limbs of a file, checked."""
    n = len(rows)
    columns: dict[str, NDArray[Any]] = {
        "kind": np.zeros(n, np.int8), "p1": np.zeros((n, 3)), "p2": np.zeros((n, 3)), "radius": np.zeros(n),
        "radius2": np.zeros(n), "box": np.full(n, -1, np.int32),
    }  # fmt: skip
    labels: dict[str, list[Any]] = {field: [] for field in LABELS}
    boxes: list[Float64Array] = []
    for i, row in enumerate(rows):
        name = row.get("shape") if isinstance(row, dict) else None
        if not isinstance(name, str) or name not in SHAPES:
            refuse(f"limbs[{i}]", f"an object with a shape out of {', '.join(SHAPES)}", shown(row))
        shape = SHAPES[name]
        check_fields(f"limbs[{i}], a {name},", row, ("bone", "shape", *SIZES[shape]), tuple(LABELS))
        sizes = {
            column: _numbers(f"limbs[{i}].{field}", row[field], form) for field, (column, form) in SIZES[shape].items()
        }
        columns["kind"][i] = int(shape)
        if "axes" in sizes:
            columns["box"][i] = len(boxes)
            boxes.append(np.append(sizes.pop("axes"), sizes.pop("half_extents")))
            if files.first_invalid_box(boxes[-1][None]) is not None:
                what = "axes of length 1 at right angles, and half extents of 2**-500 to 2**500"
                refuse(f"limbs[{i}]", what, shown(row))
        for column, value in {"p2": sizes["p1"], **sizes}.items():
            columns[column][i] = value
        for field, default in LABELS.items():
            labels[field].append(_typed(type(default), f"limbs[{i}].{field}", row.get(field, default)))
    names = labels.pop("name")
    columns |= {field: np.array(values, object) for field, values in labels.items()}
    columns["boxes"] = np.array(boxes).reshape(-1, 12)
    return Limbs(*files.checked_columns(columns, names))


def _typed(kind: type[T], where: str, value: Any) -> T:
    """The value, if it is the expected list, string or integer."""
    if not isinstance(value, kind) or isinstance(value, bool):
        refuse(where, KINDS[kind], shown(value))
    return value


def _bone(where: str, value: Any, names: list[str]) -> int:
    """The index of a bone by its name."""
    if _typed(str, where, value) not in names:
        refuse(where, "the name of a bone of the file", shown(value))
    return names.index(value)


def _numbers(where: str, value: Any, form: tuple[int, ...]) -> Float64Array:
    """Numbers in lists of this shape, or one number for ()."""
    if form:
        if not isinstance(value, list) or len(value) != form[0]:
            refuse(where, f"a list of {form[0]}", shown(value))
        return np.array([_numbers(f"{where}[{k}]", entry, form[1:]) for k, entry in enumerate(value)])
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse(where, "a number", shown(value))
    try:
        return np.array(float(value))
    except OverflowError:
        refuse(where, "a number within 2**500", shown(value))
