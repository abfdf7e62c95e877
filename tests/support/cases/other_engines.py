"""Jolt's and reactphysics3d's own ray and point tests (`tests/project/other_engines/README.md`), one case each."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from support.cases.posed_shapes import rotation_rows

FOLDER = Path(__file__).parents[2] / "project" / "other_engines"
SOURCES = ("jolt", "reactphysics3d")
Case = dict[str, Any]
"""Limb, query and numbers in the world, what the source expects of it, and the tolerance of the source."""

POSED = "line, posed too"
PARTS: dict[str, tuple[float, float, Case]] = {
    "before": (-2.0, -0.1, {"hit": False}),
    "zero length outside": (-0.1, -0.1, {"hit": False}),
    "into": (-0.1, 0.1, {"hit": True, "fraction": 0.5}),
    "through": (-0.1, 1.1, {"hit": True, "fraction": 1 / 12, "exit_fraction": 11 / 12}),
    "zero length inside": (0.9, 0.9, {"hit": True, "fraction": 0.0}),
    "out of": (0.9, 1.1, {"hit": True, "fraction": 0.0, "exit_fraction": 0.5}),
    "after": (1.1, 6.1, {"hit": False}),
}
"""Jolt asks seven parts of each line through a limb, both ways: begin and end, in chords behind the entry."""


def cases() -> Iterator[tuple[str, Case]]:
    """Yield every case with its name, which begins with its source."""
    for source in SOURCES:
        file = json.loads((FOLDER / f"{source}.json").read_text())
        for number, group in enumerate(file["groups"]):
            for pose in (group["pose"], "lines") if POSED in group else (group["pose"],):
                for name, case in _of_group(group, file["poses"][pose]):
                    yield f"{source} {number} {pose} {name}", case | {"tolerance": file["tolerance"]}


def _of_group(group: Case, pose: Case) -> Iterator[tuple[str, Case]]:
    """Yield the cases of a limb in one pose."""
    turn, base = rotation_rows(np.array([pose["rotation_xyzw"]]))[0].T, np.array(pose["translation"])

    def put(point: Any) -> np.ndarray:
        return base + turn @ np.asarray(point, dtype=float)

    limb = {k: put(x).tolist() if k in ("p1", "p2", "center") else x for k, x in group["limb"].items()}
    if limb["kind"] == "box":
        limb["orientation_xyzw"] = pose["rotation_xyzw"]
    for inside in ("inside", "outside"):
        for point in group.get(inside, []):
            yield f"{inside} {point}", {"limb": limb, "point": put(point), "inside": inside == "inside"}
    for what, ends, share, expect in _segments(group):
        start, end = (put(x) for x in ends)
        end = start + share * (end - start)
        expect |= {x.replace("fraction", "position"): start + expect[x] * (end - start) for x in expect if "frac" in x}
        policy = "ignore" if what.startswith("miss from inside") else "hit"
        yield f"{what} {share}", {"limb": limb, "start": start, "end": end, "inside": policy, "expect": expect}


def _segments(group: Case) -> Iterator[tuple[str, Any, float, Case]]:
    """Yield what is asked, ends of a segment, how much of it is asked, and what is expected."""
    for line in group.get(POSED, []):
        for one, other in (line, line[::-1]):
            entry, step = np.array(one, float), np.subtract(other, one)
            for part, (begin, end, expect) in PARTS.items():
                yield f"{part}: {one}", (entry + begin * step, entry + end * step), 1.0, dict(expect)
    for ends in group.get("at a fifth", []):
        yield f"at a fifth: {ends}", ends, 1.0, {"hit": True, "fraction": 0.2}
    for what in ("miss", "miss from inside"):
        for ends in group.get(what, []):
            yield f"{what}: {ends}", ends, 1.0, {"hit": False}
    for share in group.get("first miss at share", []):
        yield "miss from inside: the first", group["miss from inside"][0], share, {"hit": False}
    for ends in group.get("hit", []):
        for share, is_hit in {"1": True, **group["hit at share"]}.items():
            yield f"hit: {ends}", ends, float(share), {"hit": is_hit}
