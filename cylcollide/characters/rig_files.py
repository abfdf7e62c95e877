"""Rigs in files: JSON that a person can read and write, described by `rig.schema.json`, and checked on the way in."""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import ALL_LAYERS, NO_CHARACTER, Float64Array, Int32Array, Shape
from cylcollide.characters import json_text
from cylcollide.characters.json_text import shown
from cylcollide.limbs import files
from cylcollide.limbs.limbs import Limbs

FORMAT, VERSION = "cylcollide rig", 1

LABELS: Mapping[str, object] = {"name": "", "hit_group": 0, "mask": ALL_LAYERS, "character": NO_CHARACTER}
"""The fields of a limb that may be left out, with what they are then."""

SIZES: Mapping[Shape, Mapping[str, tuple[str, tuple[int, ...]]]] = {
    Shape.CYLINDER: {"p1": ("p1", (3,)), "p2": ("p2", (3,)), "radius": ("radius", ())},
    Shape.TUBE: {"p1": ("p1", (3,)), "p2": ("p2", (3,)), "radius": ("radius", ()), "inner_radius": ("radius2", ())},
    Shape.TAPERED: {"p1": ("p1", (3,)), "p2": ("p2", (3,)), "radius1": ("radius", ()), "radius2": ("radius2", ())},
    Shape.ELLIPSOID: {"p1": ("p1", (3,)), "p2": ("p2", (3,)), "radius": ("radius", ())},
    Shape.CAPSULE: {"p1": ("p1", (3,)), "p2": ("p2", (3,)), "radius": ("radius", ())},
    Shape.SPHERE: {"center": ("p1", (3,)), "radius": ("radius", ())},
    Shape.BOX: {"center": ("p1", (3,)), "axes": ("axes", (3, 3)), "half_extents": ("half_extents", (3,))},
}
"""The fields of each shape: the column that each one becomes, and its shape."""

SHAPES = {shape.name.lower(): shape for shape in SIZES}
BONE = ("name", "parent", "position", "orientation")


def write(
    path: str | PathLike[str],
    bone_names: tuple[str, ...],
    parents: Int32Array,
    rest_positions: Float64Array,
    rest_orientations: Float64Array,
    limbs: Limbs,
    limb_bone: Int32Array,
    groups: Mapping[str, int],
) -> None:
    """Write a rig, as `Rig.__init__` takes it; the file is replaced when all is written."""
    bones = [
        {"name": name, "parent": bone_names[parent] if parent >= 0 else None, "position": at, "orientation": turn}
        for name, parent, at, turn in zip(
            bone_names, parents.tolist(), rest_positions.tolist(), rest_orientations.tolist(), strict=True
        )
    ]
    content = {"format": FORMAT, "version": VERSION, "groups": dict(groups), "bones": bones}
    rows = [_limb(limbs, i, bone_names[bone]) for i, bone in enumerate(limb_bone.tolist())]
    text = json.dumps({**content, "limbs": rows}, indent=1)
    files.replace(Path(path), lambda stream: stream.write(text.encode()))


def _limb(limbs: Limbs, i: int, bone: str) -> dict[str, Any]:
    """One limb as it is written; labels that a limb may do without are left out."""
    shape, table = Shape(limbs.kind[i]), limbs.table
    columns = {"p1": table.p1[i], "p2": table.p2[i], "radius": table.radius[i], "radius2": table.radius2[i]}
    if shape == Shape.BOX:
        box = table.boxes[table.box[i]]
        columns |= {"axes": box[:9].reshape(3, 3), "half_extents": box[9:]}
    labels = {
        "name": limbs.names[i], "hit_group": int(limbs.hit_group[i]), "mask": int(table.mask[i]),
        "character": int(table.character[i]),
    }  # fmt: skip
    sizes = {field: columns[column].tolist() for field, (column, _) in SIZES[shape].items()}
    kept = {field: label for field, label in labels.items() if label != LABELS[field]}
    return {**kept, "bone": bone, "shape": shape.name.lower(), **sizes}


def read(path: str | PathLike[str]) -> tuple[Any, ...]:
    """The arguments of `Rig.__init__` in a file; their form is checked, and the limbs, but not the skeleton.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is no file of a rig, or holds limbs that no constructor takes: with file, field and row.
    """
    file = Path(path)
    content = _parsed(file)
    _check_fields(file, "the file", content, ("format", "version", "bones", "limbs"), ("groups",))
    if (content["format"], content["version"]) != (FORMAT, VERSION) or isinstance(content["version"], bool):
        got = f"{content['format']!r}, version {content['version']!r}"
        _refuse(file, f"format {FORMAT!r}, version {VERSION}", got)
    bones, rows = (_list(file, content, field) for field in ("bones", "limbs"))
    for i, bone in enumerate(bones):
        _check_fields(file, f"bones[{i}]", bone, BONE, ())
    names = [_text(file, f"bones[{i}].name", bone["name"]) for i, bone in enumerate(bones)]
    parents = [
        -1 if bone["parent"] is None else _bone(file, f"bones[{i}].parent", bone["parent"], names)
        for i, bone in enumerate(bones)
    ]
    at, turn = (
        np.array([_numbers(file, f"bones[{i}].{field}", bone[field], (n,)) for i, bone in enumerate(bones)])
        for field, n in (("position", 3), ("orientation", 4))
    )
    limbs = _limbs(file, rows)
    return names, parents, at, turn, limbs, [_bone(file, f"limbs[{i}].bone", row["bone"], names)
                                             for i, row in enumerate(rows)], content.get("groups", {})  # fmt: skip


def _limbs(file: Path, rows: list[Any]) -> Limbs:
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
            _refuse(file, f"an object with a shape out of {', '.join(SHAPES)}", shown(row), f"limbs[{i}]")
        shape = SHAPES[name]
        _check_fields(file, f"limbs[{i}], a {name},", row, ("bone", "shape", *SIZES[shape]), tuple(LABELS))
        sizes = {
            column: _numbers(file, f"limbs[{i}].{field}", row[field], form)
            for field, (column, form) in SIZES[shape].items()
        }
        columns["kind"][i] = int(shape)
        if shape == Shape.BOX:
            columns["box"][i] = len(boxes)
            boxes.append(np.append(sizes.pop("axes"), sizes.pop("half_extents")))
            if files.first_no_box(boxes[-1][None]) is not None:
                what = "axes of length 1 at right angles, and half extents of 2**-500 to 2**500"
                _refuse(file, what, shown(row), f"limbs[{i}]")
        for column, value in {"p2": sizes["p1"], **sizes}.items():
            columns[column][i] = value
        for field, default in LABELS.items():
            check = _text if field == "name" else _integer
            labels[field].append(check(file, f"limbs[{i}].{field}", row.get(field, default)))
    names = labels.pop("name")
    columns |= {field: np.array(values, object) for field, values in labels.items()}
    columns["boxes"] = np.array(boxes).reshape(-1, 12)
    return Limbs(*files.checked_columns(columns, names))


def _parsed(file: Path) -> Any:
    """What the JSON of a file says."""
    text = file.read_bytes()
    try:
        return json_text.parsed(text)
    except ValueError as error:
        _refuse(file, "JSON", f"{type(error).__name__}: {str(error)[:120]}")


def _check_fields(file: Path, where: str, value: Any, needed: tuple[str, ...], optional: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is an object of these fields."""
    if not isinstance(value, dict):
        _refuse(file, f"an object with {', '.join(needed)}", shown(value), where)
    for field in needed:
        if field not in value:
            _refuse(file, f"a field {field!r}", f"none, but {', '.join(map(repr, value))[:120]}", where)
    for field in value:
        if field not in needed and field not in optional:
            _refuse(file, f"no more than {', '.join((*needed, *optional))}", repr(field)[:120], where)


def _list(file: Path, content: Mapping[str, Any], field: str) -> list[Any]:
    if not isinstance(content[field], list):
        _refuse(file, "a list", shown(content[field]), field)
    return list(content[field])


def _text(file: Path, where: str, value: Any) -> str:
    if not isinstance(value, str):
        _refuse(file, "a string", shown(value), where)
    return value


def _integer(file: Path, where: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        _refuse(file, "an integer", shown(value), where)
    return value


def _bone(file: Path, where: str, value: Any, names: list[str]) -> int:
    """The index of a bone by its name."""
    if _text(file, where, value) not in names:
        _refuse(file, "the name of a bone of the file", shown(value), where)
    return names.index(value)


def _numbers(file: Path, where: str, value: Any, form: tuple[int, ...]) -> Float64Array:
    """Numbers in lists of this shape, or one number for ()."""
    if form:
        if not isinstance(value, list) or len(value) != form[0]:
            _refuse(file, f"a list of {form[0]}", shown(value), where)
        return np.array([_numbers(file, f"{where}[{k}]", entry, form[1:]) for k, entry in enumerate(value)])
    if not isinstance(value, int | float) or isinstance(value, bool):
        _refuse(file, "a number", shown(value), where)
    try:
        return np.array(float(value))
    except OverflowError:
        _refuse(file, "a number within 2**500", shown(value), where)


def _refuse(file: Path, expected: str, got: str, where: str = "the file") -> NoReturn:
    raise ValueError(f"{file}, {where}: expected {expected}, got {got}; see rig.schema.json beside {__name__}")
