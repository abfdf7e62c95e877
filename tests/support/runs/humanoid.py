"""A small cross-check result that needs no sweep, for the tests of what is written from one.

The bodies are stick figures of fifteen cylinders, the bullets a few thousand, the truth a float64 chord of a finite
cylinder, and the other answer is PyBullet's own: small, but with every kind of wrong answer in it.
"""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.judge.result import Agreed, CrosscheckResult, Disagreements, FamilyRow, Poses
from cylcollide.engines.bullet import BulletEngine
from cylcollide.limbs.limbs import Limbs

# Name, parent, where it starts on the parent's axis, sideways offset, axis at rest, radius; metres, z up at first.
SKELETON = (
    ("pelvis", -1, 0.0, (0, 0, 0), (0, 0, 0.16), 0.12),
    ("chest", 0, 1.0, (0, 0, 0), (0, 0, 0.34), 0.14),
    ("neck", 1, 1.0, (0, 0, 0), (0, 0, 0.08), 0.05),
    ("head", 2, 1.0, (0, 0, 0), (0, 0, 0.22), 0.09),
    ("right upper arm", 1, 0.9, (0, -0.18, 0), (0, -0.04, -0.28), 0.045),
    ("right forearm", 4, 1.0, (0, 0, 0), (0, 0, -0.25), 0.04),
    ("right hand", 5, 1.0, (0, 0, 0), (0, 0, -0.1), 0.03),
    ("left upper arm", 1, 0.9, (0, 0.18, 0), (0, 0.04, -0.28), 0.045),
    ("left forearm", 7, 1.0, (0, 0, 0), (0, 0, -0.25), 0.04),
    ("right thigh", 0, 0.0, (0, -0.09, 0), (0, 0, -0.42), 0.075),
    ("right shin", 9, 1.0, (0, 0, 0), (0, 0, -0.4), 0.055),
    ("right foot", 10, 1.0, (-0.05, 0, 0), (0.22, 0, 0), 0.04),
    ("left thigh", 0, 0.0, (0, 0.09, 0), (0, 0, -0.42), 0.075),
    ("left shin", 12, 1.0, (0, 0, 0), (0, 0, -0.4), 0.055),
    ("left foot", 13, 1.0, (-0.05, 0, 0), (0.22, 0, 0), 0.04),
)
KIND_OF = {"missed": 0, "phantom": 1, "wrong limb": 2}


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_rotation(rng, degrees):
    """Turn by a normal angle about a random axis (Rodrigues)."""
    k = unit(rng.normal(size=3))
    angle = np.radians(degrees) * rng.normal()
    cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)


def random_pose(rng):
    """Limb ends of one bent figure, each (15, 3)."""
    p1, p2, turns = np.zeros((15, 3)), np.zeros((15, 3)), []
    for i, (_, parent, along, offset, axis, _) in enumerate(SKELETON):
        base = np.eye(3) if parent < 0 else turns[parent]
        joint = np.array([0.0, 0.0, 0.86]) if parent < 0 else p1[parent] + along * (p2[parent] - p1[parent])
        p1[i] = joint + base @ np.array(offset, dtype=float)
        turns.append(base @ random_rotation(rng, 18.0))
        p2[i] = p1[i] + turns[i] @ np.array(axis, dtype=float)
    return p1, p2


def random_poses(rng, count=6):
    ends = [random_pose(rng) for _ in range(count)]
    return Poses(
        motion=tuple(("walk", "run", "kick")[i % 3] for i in range(count)),
        time=np.arange(count) * 0.25,
        # The data of the real humanoid has y up: turn x, y, z into y, z, x.
        p1=np.roll(np.stack([e[0] for e in ends]), -1, axis=2),
        p2=np.roll(np.stack([e[1] for e in ends]), -1, axis=2),
        radius=np.array([limb[5] for limb in SKELETON]),
        limb_names=tuple(limb[0] for limb in SKELETON),
    )


def random_bullet(rng, poses, pose, family):
    """Start, end and signed graze depth of one bullet meant to aim at, graze, cut the rim of, or miss a limb."""
    limb = rng.integers(15)
    a, b, r = poses.p1[pose, limb], poses.p2[pose, limb], poses.radius[limb]
    axis, toward, depth = unit(b - a), unit(rng.normal(size=3)), np.nan
    side = unit(np.cross(axis, toward))
    target = a + rng.uniform(0.05, 0.95) * (b - a)
    if family == "aimed":
        target = target + side * r * rng.uniform(-0.95, 0.95)
    elif family == "graze":
        depth = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-7, -1)
        target = target + side * r * (1.0 - depth)
    elif family == "rim":
        side = unit(np.cross(axis, rng.normal(size=3)))
        target = b + side * r * (1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-7, -2))
    else:
        target = target + side * rng.uniform(1.0, 3.0)
    return target - toward * rng.uniform(2, 20), target + toward * 2.0, depth


def true_hit(start, end, p1, p2, radius):
    """Limb, fraction and outward normal of the first closed cylinder on a segment, or (-1, nan, nan)."""
    d, axis = end - start, p2 - p1
    length = np.linalg.norm(axis, axis=1)
    u = axis / length[:, None]
    middle = np.sum(((p1 + p2) / 2 - start) * d, axis=1) / (d @ d)
    w = start + middle[:, None] * d - p1
    du, wu = u @ d, np.sum(w * u, axis=1)
    dp, wp = d - du[:, None] * u, w - wu[:, None] * u
    a, b, c = np.sum(dp * dp, 1), np.sum(dp * wp, 1), np.sum(wp * wp, 1) - radius**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    caps = np.sort(np.stack([-wu / du, (length - wu) / du]), axis=0)
    lo = np.maximum((-b - root) / a, caps[0])
    inside = (b * b >= a * c) & (lo <= np.minimum((-b + root) / a, caps[1])) & (lo + middle >= 0) & (lo + middle <= 1)
    if not inside.any():
        return -1, np.nan, np.full(3, np.nan)
    limb = int(np.argmin(np.where(inside, lo + middle, np.inf)))
    radial = wp[limb] + lo[limb] * dp[limb]
    normal = -np.sign(du[limb]) * u[limb] if caps[0, limb] > (-b - root)[limb] / a[limb] else unit(radial)
    return limb, lo[limb] + middle[limb], normal


def clearance(start, end, a, b, radius):
    """By how much the cylinder must grow (a gap) or shrink (a cut) before the segment's verdict flips, metres."""

    def hit(by):
        u = unit(b - a)
        return true_hit(start, end, (a - by * u)[None], (b + by * u)[None], np.array([radius + by]))[0] >= 0

    sign, lo, hi = (-1.0 if hit(0.0) else 1.0), 0.0, radius
    for _ in range(30):
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if hit(sign * middle) == (sign > 0) else (middle, hi)
    return hi


def fire(rng, poses, rays):
    """Every bullet in turn: its number, pose, family, depth, start and end, and what PyBullet answers."""
    families = rng.choice(BULLET_FAMILIES, size=rays, p=(0.5, 0.3, 0.1, 0.1))
    with BulletEngine() as engine:
        for pose, numbers in enumerate(np.array_split(np.arange(rays), len(poses.motion))):
            engine.build(Limbs.cylinders(poses.p1[pose], poses.p2[pose], poses.radius))
            bullets = [random_bullet(rng, poses, pose, families[ray]) for ray in numbers]
            hits = engine.cast_segments(np.array([b[0] for b in bullets]), np.array([b[1] for b in bullets]))
            for i, (ray, (start, end, depth)) in enumerate(zip(numbers, bullets, strict=True)):
                asked = {"ray": ray, "pose": pose, "family": BULLET_FAMILIES.index(families[ray]), "depth": depth}
                yield asked, start, end, (hits.limb[i], hits.fraction[i], hits.position[i], hits.normal[i])


def sample_result(seed=1, rays=4000, perfect=False):
    """One whole result; ``perfect`` makes the engine's verdicts right (no disagreement), errors stay."""
    rng = np.random.default_rng(seed)
    poses = random_poses(rng)
    agreed, wrong = [], []
    counts = {family: [0, 0] for family in BULLET_FAMILIES}
    for asked, start, end, (other, other_fraction, other_position, other_normal) in fire(rng, poses, rays):
        p1, p2 = poses.p1[asked["pose"]], poses.p2[asked["pose"]]
        limb, fraction, normal = true_hit(start, end, p1, p2, poses.radius)
        count = counts[BULLET_FAMILIES[asked["family"]]]
        count[0] += 1
        count[1] += limb >= 0
        row = asked | {
            "start": start,
            "end": end,
            "fraction_true": fraction,
            "fraction_engine": other_fraction,
            "position_true": start + fraction * (end - start),
            "position_engine": other_position,
            "normal_true": normal,
            "normal_engine": other_normal,
        }
        if limb == other >= 0:
            error = (other_fraction - fraction) * np.linalg.norm(end - start)
            angle = np.degrees(np.arccos(np.clip(normal @ other_normal, -1.0, 1.0)))
            agreed.append(row | {"limb": limb, "distance_error": error, "normal_error": angle})
        elif limb != other and not perfect:
            kind = "missed" if other < 0 else "phantom" if limb < 0 else "wrong limb"
            near = max(limb, other)
            gap = np.nan if kind == "wrong limb" else clearance(start, end, p1[near], p2[near], poses.radius[near])
            answers = {"limb_true": limb, "limb_engine": other, "clearance": gap}
            wrong.append(row | answers | {"kind": KIND_OF[kind], "proved": True})
    result = CrosscheckResult(
        engine="PyBullet",
        seed=seed,
        rays=rays,
        seconds=1.0,
        rechecked=3,
        versions={"cylcollide": "0.1.0", "pybullet": "3.2.7", "numpy": np.__version__, "python": "3.11"},
        rows=(),
        poses=poses,
        agreed=as_arrays(Agreed, agreed),
        disagreements=as_arrays(Disagreements, wrong),
    )
    return replace(result, rows=family_rows(result, counts))


INTEGERS = {
    "ray": np.int64,
    "pose": np.int32,
    "family": np.int32,
    "limb": np.int32,
    "kind": np.int32,
    "limb_true": np.int32,
    "limb_engine": np.int32,
    "proved": np.bool_,
}
VECTORS = ("start", "end", "position_true", "position_engine", "normal_true", "normal_engine")


def as_arrays(cls, rows):
    """Rows of dicts to the dataclass of parallel arrays, empty ones with their shapes too."""
    return cls(
        **{
            name: np.array([row[name] for row in rows], dtype=INTEGERS.get(name, np.float64)).reshape(
                (len(rows), 3) if name in VECTORS else (len(rows),)
            )
            for name in cls.__dataclass_fields__
        }
    )


def three(values):
    """Median, 99th percentile and maximum; nan of nothing."""
    return tuple(np.percentile(values, (50, 99, 100)).tolist()) if len(values) else (np.nan,) * 3


def family_rows(result, counts):
    rows, a, d = [], result.agreed, result.disagreements
    for family in (*BULLET_FAMILIES, "all"):
        mine = np.ones(len(a.ray), bool) if family == "all" else a.family == BULLET_FAMILIES.index(family)
        bad = np.ones(len(d.ray), bool) if family == "all" else d.family == BULLET_FAMILIES.index(family)
        rays, hits = np.sum(list(counts.values()), axis=0) if family == "all" else counts[family]
        error = a.distance_error[mine]
        rows.append(
            FamilyRow(
                family,
                int(rays),
                int(hits),
                *(int(np.sum(bad & (d.kind == k))) for k in range(3)),
                proved=int(np.sum(bad & d.proved)),
                early_mm=three(-1e3 * error[error < 0]),
                late_mm=three(1e3 * error[error > 0]),
                normal_deg=three(a.normal_error[mine]),
            )
        )
    return tuple(rows)
