"""Rigs from URDF files: PyBullet's robots, a robot with every shape, and files without a valid one."""

import math
import re
from pathlib import Path
from time import process_time

import pytest
from support.cases.text_files import URDF

import cylcollide as cc
from cylcollide._pybullet import data_folder

STILL = [0.0, 0.0, 0.0, 1.0]


def rig_of(tmp_path: Path, text: str = URDF, **options: str) -> cc.Rig:
    (tmp_path / "robot.urdf").write_text(text)
    return cc.Rig.from_urdf(tmp_path / "robot.urdf", **options)


def test_links_are_bones_and_collisions_limbs(tmp_path):
    """Parents come first, whatever the order of the file; a limb has the name of its collision, or else of its link."""
    rig = rig_of(tmp_path)
    assert rig.bone_names == ("pole", "arm", "head", "hat")
    assert rig.parents.tolist() == [-1, 0, 0, 2]
    assert rig.rest_positions.tolist() == [[0, 0, 0], [0.1, 0, 0.5], [0, 0, 1.1], [0, 0, 0]]
    assert rig.rest_orientations[1] == pytest.approx([0, 0, math.sqrt(0.5), math.sqrt(0.5)])
    assert rig.rest_orientations[[0, 2, 3]].tolist() == [STILL] * 3
    assert rig.limb_names == ("pole", "foot", "pole_3", "arm", "head")
    assert rig.limb_bone.tolist() == [0, 0, 0, 1, 2]
    limbs = rig.limbs
    assert limbs.kind.tolist() == [cc.Shape[name] for name in ("CYLINDER", "BOX", "CAPSULE", "CYLINDER", "SPHERE")]
    assert limbs.p1[0].tolist() == [0, 0, -1]
    assert limbs.p2[0].tolist() == [0, 0, 1]
    assert limbs.p1[1].tolist() == [0, 0, -1]
    assert limbs.half_extents[1].tolist() == [0.3, 0.2, 0.1]
    assert limbs.p2[2] == pytest.approx([0, -0.25, 0])  # a capsule's length lies between its balls' centres
    assert limbs.p1[3] == pytest.approx([0, 0, 0], abs=1e-16)
    assert limbs.p2[3] == pytest.approx([0.6, 0, 0], abs=1e-16)
    assert limbs.radius.tolist() == [0.1, 0.0, 0.2, 0.05, 0.15]


def test_pybullets_robots():
    """All but a thousand random heaps: read, or refused by a message that begins with the file."""
    files = [path for path in sorted(data_folder().rglob("*.urdf")) if "random_urdfs" not in path.parts]
    assert len(files) > 90
    limbs = refused = 0
    for path in files:
        try:
            rig = cc.Rig.from_urdf(path, mesh="skip")
        except ValueError as error:
            assert str(error).startswith(f"{path}: expected ")  # noqa: PT017
            refused += 1
            continue
        assert len(rig.place(*rig.forward([0, 0, 1], STILL, rig.rest_orientations))) == len(rig.limbs)
        limbs += len(rig.limbs)
    assert limbs > 400
    assert refused < 6


def swap(old: str, new: str) -> str:
    assert old in URDF
    return URDF.replace(old, new, 1)


BAD = {
    "nothing": ("", r"expected XML"),
    "cut off": (URDF[:700], r"expected XML"),
    "an unknown encoding": ('<?xml version="1.0" encoding="no-such"?><robot/>', r"expected XML, got unknown encoding"),
    "an encoding of two bytes": ('<?xml version="1.0" encoding="big5"?><robot/>', r"expected XML, got multi-byte"),
    "another format": ("<sdf><model/></sdf>", r"expected a robot, got 'sdf'"),
    "no links": ('<robot name="x"/>', r"expected a robot with links, got none"),
    "a mesh": (
        swap('<sphere radius="0.15"/>', '<mesh filename="head.obj"/>'),
        r"link 'head', collision 0: expected cylinder, capsule, sphere, box, got mesh; .*mesh='skip'",
    ),
    "no radius": (swap(' radius="0.15"', ""), r"expected a number for radius of link 'head', collision 0, got ''"),
    "a negative radius": (swap('"0.15"', '"-0.15"'), r"link 'head', collision 0: radius: expected > 0.*got -0.15"),
    "a negative length": (swap('length="2"', 'length="-2"'), r"collision 0: length: expected >= 0, got -2.0"),
    "a number of Python": (
        swap('"0.15"', '"1_0"'),
        r"expected a number for radius of link 'head', collision 0, got '1_0'",
    ),
    "a number in other digits": (swap('"0.15"', '"\u0661"'), r"expected a number for radius of link 'head'"),
    "a place of two": (
        swap('xyz="0 0 -1"', 'xyz="0 0"'),
        r"expected 3 numbers for xyz of link 'pole', collision 1, got '0 0'",
    ),
    "a turn that is none": (
        swap('rpy="0 0 1.57', 'rpy="0 nan 1.57'),
        r"expected finite angles for rpy of .*'arm', got \[0.0, nan",
    ),
    "a parent that is not there": (
        swap('parent link="pole"', 'parent link="post"'),
        r"joint 'shoulder' between links of the file, got 'post'",
    ),
    "two parents": (
        swap('child link="hat"', 'child link="arm"'),
        r"one joint with the child 'arm', got 'shoulder' and",
    ),
    "a loop": (
        swap('parent link="pole"/><child link="head"', 'parent link="hat"/><child link="head"'),
        r"a loop through",
    ),
    "a name with children twice": (
        swap("</robot>", '<link name="pole"/></robot>'),
        r"links of different names, got 2 links 'pole'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_files_without_a_robot(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(ValueError, match=rf"^{re.escape(str(tmp_path / 'robot.urdf'))}[,:] .*({message})"):
        rig_of(tmp_path, text)


def test_other_shapes_are_skipped_on_request(tmp_path):
    text = swap('<sphere radius="0.15"/>', '<mesh filename="head.obj"/>')
    assert rig_of(tmp_path, text, mesh="skip").limb_names == ("pole", "foot", "pole_3", "arm")
    with pytest.raises(ValueError, match="mesh: expected 'raise' or 'skip', got 'wrap'"):
        rig_of(tmp_path, mesh="wrap")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings_of_xml_are_read(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding[:6].rstrip("-")}"?>\n{URDF.partition("?>")[2] or URDF}\n'
    (tmp_path / "other.urdf").write_bytes(text.encode(encoding))
    assert cc.Rig.from_urdf(tmp_path / "other.urdf").limb_names == rig_of(tmp_path).limb_names


def test_generated_names_are_unique(tmp_path):
    shape = "<geometry><sphere radius='1'/></geometry></collision>"
    ball, named = f"<collision>{shape}", f"<collision name='{{}}'>{shape}"
    links = [f"<link name='a'>{3 * ball}</link>", f"<link name='a_2'>{ball}</link>"]
    links += [f"<link name='b'>{2 * ball}{named.format('b')}</link>"]
    names = rig_of(tmp_path, f"<robot>{''.join(links)}</robot>").limb_names
    assert names == ("a", "a_2_", "a_3", "a_2", "b_", "b_2", "b")


@pytest.mark.timeout(20)
def test_a_robot_of_many_links_is_read_in_one_pass(tmp_path):
    def seconds(n: int) -> float:
        links = [
            f"<link name='{i}'><collision><geometry><sphere radius='1'/></geometry></collision></link>"
            for i in range(n)
        ]
        joints = [f"<joint name='{i}'><parent link='{i // 2}'/><child link='{i}'/></joint>" for i in range(1, n)]
        began = process_time()
        assert len(rig_of(tmp_path, f"<robot>{''.join(links + joints)}</robot>").limbs) == n
        return process_time() - began

    seconds(10)
    assert seconds(2000) < 8 * seconds(500)  # the ratio is 16 for quadratic time
