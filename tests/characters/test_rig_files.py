"""Rigs in files: nothing is lost, the schema holds, and other files are refused."""

import copy
import json
import re
import stat
from collections.abc import Callable
from functools import reduce
from operator import delitem, getitem, setitem
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.cases.rigs import mixed_rig

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.characters import rig_files

SCHEMA = json.loads(Path(rig_files.__file__).with_name("rig.schema.json").read_text())


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the JSON content of the mixed rig's file."""
    path = tmp_path_factory.mktemp("rig") / "rig.json"
    mixed_rig().save(path)
    return json.loads(path.read_text())


def load(path: Path, content: Any) -> cc.Rig:
    path.write_text(json.dumps(content))
    return cc.Rig.load(path)


def schema_accepts(content: Any) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(content)


@pytest.mark.parametrize(
    "rig", [mixed_rig(), cc.Rig.humanoid(), cc.Rig.humanoid(2.0**-400, "y"), cc.Rig.humanoid(1 / 3)]
)
def test_a_round_trip_keeps_every_bit(rig: cc.Rig, tmp_path: Path):
    rig.save(tmp_path / "rig.json")
    again = cc.Rig.load(str(tmp_path / "rig.json"))
    assert again == rig
    assert again.groups == rig.groups
    assert again.limbs._table.boxes.tobytes() == rig.limbs._table.boxes.tobytes()
    assert schema_accepts(json.loads((tmp_path / "rig.json").read_text()))


def test_every_kind_of_number_stays(tmp_path: Path):
    """Signed zeros, subnormal numbers, the largest and the smallest, and names of any text."""
    places = [[-0.0, 5e-324, 2.0**500], [0.1, -1e-310, -(2.0**500)]]
    turns = [[-0.0, 0.0, 2.0**-500, 0.0], [1e150, -0.0, 1 / 3, 5e-324]]
    limbs = cc.Limbs.tapered_cylinders(
        [[-0.0, 1e-320, 0.1]] * 2,
        [[2.0**-500, 1.0, -0.0], [2.0**499, 0.1, 1 / 3]],
        [0.0, 1 / 3],
        [2.0**500, 0.0],
        name=["", 'a "quote" é \ud800 \0'],
        mask=[0, 2**32 - 1],
        hit_group=[-(2**31), 2**31 - 1],
        character=[-1, 2**31 - 1],
    )
    rig = cc.Rig(["a", "b é\n"], [-1, 0], places, turns, limbs, [0, 1], {"é": 2**31 - 1, "0": -(2**31)})
    rig.save(tmp_path / "rig.json")
    again = cc.Rig.load(tmp_path / "rig.json")
    assert again == rig
    for one, other in ((rig.rest_positions, again.rest_positions), (rig.rest_orientations, again.rest_orientations)):
        assert one.tobytes() == other.tobytes()
    assert again.limbs.p1.tobytes() == rig.limbs.p1.tobytes()


def test_optional_fields_may_be_left_out(tmp_path: Path):
    bone = {"name": "hip", "parent": None, "position": [0, 0, 1], "orientation": [0, 0, 0, 1]}
    limb = {"bone": "hip", "shape": "sphere", "center": [0, 0, 0], "radius": 1}
    content = {"format": "cylcollide rig", "version": 1, "bones": [bone], "limbs": [limb]}
    assert schema_accepts(content)
    rig = load(tmp_path / "rig.json", content)
    assert rig == cc.Rig(["hip"], [-1], [[0, 0, 1]], [[0, 0, 0, 1]], cc.Limbs.spheres([0, 0, 0], 1), 0)
    assert load(tmp_path / "rig.json", {**content, "limbs": []}).limb_names == ()


@pytest.mark.parametrize("shape", rig_files.SIZES, ids=lambda shape: shape.name.lower())
def test_the_schema_has_exactly_the_fields_of_each_shape(shape: Shape):
    fields = {field: np.ones(form).tolist() for one in rig_files.SIZES.values() for field, (_, form) in one.items()}
    limb = {"bone": "hip", "shape": shape.name.lower(), **{field: fields[field] for field in rig_files.SIZES[shape]}}
    bone = {"name": "hip", "parent": None, "position": [0, 0, 1], "orientation": [0, 0, 0, 1]}
    content = {"format": "cylcollide rig", "version": 1, "bones": [bone], "limbs": [limb]}
    assert schema_accepts(content)
    for field, value in fields.items():
        other = {name: limb[name] for name in limb if name != field} if field in limb else {**limb, field: value}
        assert not schema_accepts({**content, "limbs": [other]})


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mixed_rig().save(tmp_path / "rig.json")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="No space"):
        cc.Rig.humanoid().save(tmp_path / "rig.json")
    monkeypatch.undo()
    assert cc.Rig.load(tmp_path / "rig.json") == mixed_rig()
    assert [path.name for path in tmp_path.iterdir()] == ["rig.json"]
    (tmp_path / "rig.json").chmod(0o640)
    cc.Rig.humanoid().save(tmp_path / "rig.json")
    assert stat.S_IMODE((tmp_path / "rig.json").stat().st_mode) == 0o640


def changed(path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """Return a function that returns a copy of the content in which the container at a path has changed."""

    def of(content: Any) -> Any:
        content = copy.deepcopy(content)
        change(reduce(getitem, path[:-1], content), path[-1])
        return content

    return of


def at(*path: Any) -> Any:
    """Return a function that takes a value and returns a change that puts it at this path."""
    return lambda value: changed(path, lambda inner, key: setitem(inner, key, value))


def without(*path: Any) -> Any:
    return changed(path, delitem)


CYLINDER, TUBE, TAPERED, SPHERE, BOX = 0, 2, 4, 10, 12
"""Rows of the mixed rig's limbs."""

BY_FORM = {
    "a list": (lambda _: [1], r"the file: expected an object with format, version"),
    "nothing": (lambda _: {}, r"the file: expected a field 'format', got an empty object"),
    "another format": (at("format")("gltf"), r"the file: expected format 'cylcollide rig', version 1, got 'gltf'"),
    "a later version": (at("version")(2), r"expected format .*version 1, got 'cylcollide rig', version 2"),
    "no version": (without("version"), r"the file: expected a field 'version', got only 'format'"),
    "a field too many": (at("skin")(1), r"the file: expected only the fields format, .*got 'skin'"),
    "a bone without a parent": (without("bones", 1, "parent"), r"bones\[1\]: expected a field 'parent'"),
    "a number for a name": (at("bones", 1, "name")(1), r"bones\[1\].name: expected a string, got 1"),
    "a place in a plane": (
        at("bones", 1, "position")([0, 1]),
        r"bones\[1\].position: expected a list of 3, got \[0, 1\]",
    ),
    "a place of truth": (at("bones", 1, "position", 2)(True), r"bones\[1\].position\[2\]: expected a number, got true"),
    "a very far place": (at("bones", 1, "position", 2)(1e200), r"rest_positions: .*bone 1 \('knee'\)"),
    "a number of 400 digits": (at("bones", 1, "position", 2)(10**400), r"bones\[1\].position\[2\]: .*within 2\*\*500"),
    "no bones at all": (lambda c: {**c, "bones": [], "limbs": []}, r"bone_names: .*got none"),
    "a limb that is a number": (
        at("limbs", 3)(3),
        r"limbs\[3\]: expected an object with a shape out of cylinder.*got 3",
    ),
    "a pyramid": (at("limbs", 3, "shape")("pyramid"), r"limbs\[3\]: expected an object with a shape out of"),
    "no radius": (without("limbs", CYLINDER, "radius"), r"limbs\[0\], a cylinder,: expected a field 'radius'"),
    "a sphere with ends": (at("limbs", SPHERE, "p2")([0, 0, 0]), r"limbs\[10\], a sphere,: .*got 'p2'"),
    "axes in a row": (at("limbs", BOX, "axes")([1] * 9), r"limbs\[12\].axes: expected a list of 3"),
    "a name that is a number": (at("limbs", 1, "name")(7), r"limbs\[1\].name: expected a string, got 7"),
    "a true mask": (at("limbs", 1, "mask")(True), r"limbs\[1\].mask: expected an integer, got true"),
    "a mask of 33 bits": (at("limbs", 1, "mask")(2**32), r"column mask: expected 0 to 4294967295.*row 1\b"),
    "a negative radius": (at("limbs", CYLINDER, "radius")(-1), r"column radius: expected > 0.*row 0\b"),
    "a flat box": (at("limbs", BOX, "half_extents", 1)(0), r"limbs\[12\]: expected axes of length 1.*half extents"),
    "groups in a list": (at("groups")([1]), r"groups: expected a mapping"),
    "a group of text": (at("groups", "leg")("4"), r"groups: expected a name and an integer.*'4'"),
}
"""Changes of the content that the schema forbids, too, and the messages."""

BY_MEANING = {
    "a parent that is not there": (at("bones", 1, "parent")("wing"), r"bones\[1\].parent: expected the name of a bone"),
    "a parent behind": (at("bones", 1, "parent")("ankle"), r"parents: .*bone 1 \('knee'\), got 2"),
    "a name twice": (at("bones", 3, "name")("knee"), r"bone_names: .*'knee' for bones 1 and 3|limbs\[\d+\].bone"),
    "a bone that is not there": (at("limbs", 5, "bone")("wing"), r"limbs\[5\].bone: expected the name of a bone"),
    "no turn": (at("bones", 1, "orientation")([0, 0, 0, 0]), r"rest_orientations: .*other than zero.*'knee'"),
    "no length": (at("limbs", CYLINDER, "p2")([0.26, -1, 1.68]), r"column p\d: expected an end other than"),
    "a tube without a wall": (at("limbs", TUBE, "inner_radius")(9), r"column radius2: expected less than .*row 2\b"),
    "a cone of nothing": (
        lambda c: at("limbs", TAPERED, "radius1")(0)(at("limbs", TAPERED, "radius2")(0)(c)),
        r"column radius: expected > 0 at one end.*row 4\b",
    ),
    "a long axis": (at("limbs", BOX, "axes", 1, 0)(1e10), r"limbs\[12\]: expected axes of length 1"),
    "a sheared box": (at("limbs", BOX, "axes", 0)([1, 0.1, 0]), r"limbs\[12\]: expected axes of length 1"),
    "one number for two groups": (at("groups", "weapon")(4), r"groups: expected one name per number"),
}
"""Changes that a schema cannot detect, and the messages."""


@pytest.mark.parametrize("case", [*BY_FORM, *BY_MEANING])
def test_files_without_a_rig(content: Any, tmp_path: Path, case: str):
    change, message = {**BY_FORM, **BY_MEANING}[case]
    file, spoiled = tmp_path / "rig.json", change(content)
    if case == "no length":
        spoiled["limbs"][CYLINDER]["p2"] = spoiled["limbs"][CYLINDER]["p1"]
    with pytest.raises(ValueError, match=rf"^{re.escape(str(file))}[,:] .*({message})"):
        load(file, spoiled)
    assert schema_accepts(spoiled) == (case in BY_MEANING)


def test_a_file_is_named_even_if_the_message_begins_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("b").write_text('{"format": "cylcollide rig", "version": 1, "bones": 3, "limbs": []}')
    with pytest.raises(ValueError, match=r"^b: bones: expected a list, got 3; see rig\.schema\.json"):
        cc.Rig.load("b")


TEXTS = {
    "nothing": "",
    "nan": '{"format": NaN}',
    "a field twice": '{"format": 1, "format": 2}',
    "deep": "[" * 100_000,
    "bytes": "\udcff\udcfe",
    "yaml": "format: rig\n",
    "digits": '{"version": ' + "1" * 5000 + "}",
}


@pytest.mark.parametrize("case", TEXTS)
def test_other_files(tmp_path: Path, case: str):
    file = tmp_path / "rig.json"
    file.write_bytes(TEXTS[case].encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(file))}: the file: expected JSON, got \w+: "):
        cc.Rig.load(file)


def test_deep_values_are_shortened(content: Any, tmp_path: Path):
    """At every depth, down to lists that cannot be read."""
    file, messages = tmp_path / "rig.json", []
    text = json.dumps(at("bones", 0, "position")("HERE")(content))
    for depth in (*range(10, 1100, 10), 5_000, 20_000, 100_000):  # how deep Python reads depends on its version
        file.write_text(text.replace('"HERE"', "[" * depth + "]" * depth))
        with pytest.raises(
            ValueError, match=r"(position: expected a list of 3|expected JSON), got .{0,130}; see"
        ) as error:
            cc.Rig.load(file)
        messages.append(str(error.value))
    assert "position: expected a list of 3, got [[[" in messages[0]
    assert "the file: expected JSON, got RecursionError: " in messages[-1]
