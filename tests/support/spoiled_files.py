"""Valid files of every text format, functions that read and use each, and random changes that spoil them."""

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from support.cases.gltf import document, glb, gltf, known
from support.cases.rigs import mixed_rig
from support.cases.text_files import BVH, DEEPMIMIC, MJCF, URDF

import cylcollide as cc
from cylcollide.bullet import Mirror
from cylcollide.characters.skin import Skin
from cylcollide.crosscheck.cases.mirror_ray import read_ray, replay_ray


def saved(thing: Any) -> bytes:
    """The file that `thing.save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        thing.save(Path(folder) / "file")
        return (Path(folder) / "file").read_bytes()


def use_rig(rig: cc.Rig) -> None:
    """Pose the rig, cast rays at its limbs, save and load it; poses may exceed the accepted numbers."""
    try:
        pose = rig.forward([1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0], rig.rest_orientations)
        limbs = rig.place(*pose)
        world = cc.HitWorld()
        world.set_poses(world.spawn(rig), *pose)
    except ValueError as error:
        assert ": expected " in str(error), error  # noqa: PT017
        return
    hits = world.cast_segments([0.0, 0.0, 0.0], limbs.p1) if len(limbs) else world.cast_segments([[0] * 3], [[1] * 3])
    assert np.isfinite(hits.position[hits.hit]).all()
    with tempfile.TemporaryDirectory() as folder:
        rig.save(Path(folder) / "rig")
        assert cc.Rig.load(Path(folder) / "rig") == rig


def use_clip(clip: cc.Clip) -> None:
    """Assert that all numbers of a clip are finite, between frames and beyond them."""
    times = np.append(clip.times, [-1.0, clip.duration / 3.0, 2.0**300])
    for loop in (False, True):
        for column in (*clip.at(times, loop=loop), clip.offsets, clip.tips):
            assert np.isfinite(column).all()
    assert repr(clip)


def use_policy(policy: cc.Policy) -> None:
    """Judge by the policy, which may refuse names of groups that no rig has."""
    world = cc.HitWorld(cc.Limbs.spheres([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.6, hit_group=[1, 2], character=3))
    try:
        judged = world.judge_segments([[-9.0, 0.0, 0.0]], [[9.0, 0.0, 0.0]], policy, energy=2.0)
    except ValueError as error:
        assert str(error).startswith("policy, "), error  # noqa: PT017
    else:
        assert np.isfinite(judged.damage).all()
        assert str(judged.explain(0))
    assert cc.Policy.from_json(policy.to_json()) == policy


def use_skin(skin: Skin) -> None:
    """Assert that all numbers of a skin are finite."""
    assert np.isfinite(skin.vertices).all()
    assert np.isfinite(skin.weights).all()


def mirror_ray() -> bytes:
    """The saved explanation of a phantom hit among all shapes."""
    import pybullet  # its greeting was already printed
    from support import pybullet_scenes as scenes

    with scenes.client() as client:
        for kind in range(4):
            scenes.body(client, kind, [kind, 0, 1])
        pybullet.loadURDF("plane_implicit.urdf", physicsClientId=client)
        pybullet.performCollisionDetection(physicsClientId=client)
        return saved(Mirror(client).explain([0.3004, -1, 1.05], [0.3004, 1, 0.95]))


def use_ray(record: dict[str, Any] | None) -> None:
    """Replay the ray; `record` is None for a file that is not a saved ray."""
    if record is not None:
        assert str(replay_ray(record))


POLICY = cc.Policy.penetration({"head": 1.5, 2: 0.25, "default": 0.5}, {1: 4.0}, default=0.75, groups={"head": 1})
ORDER = cc.Policy.most_important(["head", 7], groups={"head": 1})
FORMATS: dict[str, tuple[Callable[[], bytes], Callable[[Path], Any], Callable[[Any], None]]] = {
    "rig.json": (lambda: saved(mixed_rig()), cc.Rig.load, use_rig),
    "policy.json": (lambda: saved(POLICY), cc.Policy.load, use_policy),
    "order.json": (lambda: saved(ORDER), cc.Policy.load, use_policy),
    "clip.bvh": (BVH.encode, cc.Clip.load_bvh, use_clip),
    "ray.json": (mirror_ray, read_ray, use_ray),
    "walk.txt": (json.dumps(DEEPMIMIC).encode, cc.Clip.load_deepmimic, use_clip),
    "robot.urdf": (URDF.encode, cc.Rig.from_urdf, use_rig),
    "model.xml": (MJCF.encode, cc.Rig.from_mjcf, use_rig),
    "skin.gltf": (lambda: gltf(document(known())), Skin.from_gltf, use_skin),
    "skin.glb": (lambda: glb(document(known())), Skin.from_gltf, use_skin),
}
"""For each file: functions that make its content, read it, and use the result."""

TOKEN = re.compile(rb"-?\d+\.?\d*(?:e[+-]?\d+)?|\"[^\"]*\"|[A-Za-z_]+")
NUMBERS = (
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"1e400", b"-1e400", b"1e-400", b"5e-324", b"1e200", b"-1e200", b"2e150"),
    *(b"1e-200", b"0", b"-0.0", b"-1", b"1.5", b"2", b"7", b"65536", b"2147483648", b"-2147483649", b"4294967296"),
    *(b"1e15", b"18446744073709551616", b"9" * 400, b"1" * 5000, b"0x10", b"1_0", b"1,5", b"\xd9\xa1", b"1 2", b""),
)
WORDS = (
    *(b"null", b"true", b"[]", b"{}", b'""', b'"1"', b"[1]", b'"\\ud800"', b'"\\u0000"', b"&lt;", b"<a/>", b"<!-- ",
      b"<![CDATA[", b"&a;", b'"', b"{", b"}", b"[", b"]", b"<", b"/>", b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\t"),
)  # fmt: skip
HEADS = (
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b" ", b'<?xml version="1.0" encoding="no-such"?>', b"{", b"[" * 3000),
    *(b'<?xml version="1.0" encoding="utf-16"?>', b'<?xml version="1.0" encoding="cp037"?>', b"<a>" * 3000),
    b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    b'<?xml version="1.0" encoding="big5"?>',
)


def spoiled(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with one to three changes, mostly one."""
    for _ in range(int(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))):
        content = changed(content, rng)
    return content


def changed(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with one change: of a digit, bit, number, word, line, piece, or of the whole."""
    tokens = [match.span() for match in TOKEN.finditer(content)]
    kinds = ("digit", "bit", "number", "word", "lines", "piece", "whole")
    kind = rng.choice(kinds, p=[0.25, 0.1, 0.3, 0.15, 0.06, 0.09, 0.05])
    if kind == "digit" and (digits := [match.start() for match in re.finditer(rb"(?<![A-Za-z])\d", content)]):
        at = digits[rng.integers(len(digits))]
        return content[:at] + bytes([int(rng.choice([*b"0123456789.-e"]))]) + content[at + 1 :]
    if kind in ("number", "word") and tokens:
        begin, end = tokens[rng.integers(len(tokens))]
        other = tokens[rng.integers(len(tokens))]
        pool = NUMBERS if kind == "number" else (*WORDS, content[slice(*other)])
        return content[:begin] + pool[rng.integers(len(pool))] + content[end:]
    if kind == "whole" and tokens and rng.random() < 0.2:
        at, depth = tokens[rng.integers(len(tokens))][rng.integers(2)], int(rng.choice([50, 900, 1100, 100_000]))
        opened, closed = ((b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"))[rng.integers(3)]
        return content[:at] + opened * depth + b"1" + closed * depth + content[at:]
    if kind == "lines":
        lines = re.split(rb"(?<=[\n>,])", content)
        i, k = rng.integers(len(lines), size=2)
        chosen = (lines[:i] + lines[i + 1 :], [*lines[:i], lines[k], *lines[i:]], [*lines[:i], b"\n", *lines[i:]])
        return b"".join(chosen[rng.integers(3)])
    i, k = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    if kind == "piece":
        k = min(k, i + 60)
        return (content[:i] + content[k:], content[:k] + content[i:], content[k:] + content[:k])[rng.integers(3)]
    if kind == "whole":
        body = content[content.find(b">") + 1 :] if content.startswith(b"<?xml") else content
        head = HEADS[rng.integers(len(HEADS))]
        text = content.decode("utf-8", "replace")
        shapes = (content[:i], head + content, head + body, text.encode("utf-16"), content.replace(b"\n", b"\r"))
        return shapes[rng.integers(len(shapes))]
    flipped = bytes([byte ^ (1 << int(rng.integers(8))) for byte in content[i : i + 1]])
    return content[:i] + flipped + content[i + 1 :]
