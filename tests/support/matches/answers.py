"""Columns of every kind of query, from a history and from worlds that are made for each moment."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.check_cylinders import Columns
from support.matches.volley import Moment, Volley

import cylcollide as cc
from cylcollide.characters.judged import Impacts
from cylcollide.history import PoseHistory

OF_BONES = ("bone", "rig_limb", "local_position", "local_normal")
"""Fields that bare limbs do not have."""
HIT, CHORD, JUDGED, IMPACT, POINT, NEAREST, NEAR, OVERLAP = (
    tuple(name for name in kind.fields if name not in (*OF_BONES, "static", "ray", "query"))
    for kind in (cc.RayHits, cc.Chords, cc.Judged, Impacts, cc.PointHits, cc.ClosestPoints, cc.NearLimbs,
                 cc.Overlaps)
)  # fmt: skip
"""Fields to compare with worlds of bare limbs; rays and queries are left out, because these number them differently."""

NAMES, GROUPS = {"head": 4.0, "torso": 1.0, "default": 0.5}, {"head": 1, "torso": 2, "arm": 3, "leg": 4}
POLICIES: tuple[Callable[[dict[str, int]], cc.Policy], ...] = (
    lambda groups: cc.Policy.first_surface(NAMES, groups=groups),
    lambda groups: cc.Policy.most_important(["head", "torso"], NAMES, groups=groups),
    lambda groups: cc.Policy.longest_chord(NAMES, groups=groups),
    lambda groups: cc.Policy.penetration({"head": 9.0, "torso": 3.0, "default": 1.0}, NAMES, groups=groups),
)
"""Policies from numbers of hit groups, which worlds of bare limbs need; a history has those of its rigs."""

Ask = Callable[[Any, Volley, dict], Columns]
"""A query of a world or, with a history's options, of a history; returns columns, with offsets if they are CSR."""


def columns(result: Any, fields: Sequence[str]) -> Columns:
    """Return these fields."""
    return {name: getattr(result, name) for name in fields}


def compressed(result: Any, fields: Sequence[str]) -> Columns:
    """Return these fields and the offsets of compressed rows (CSR)."""
    return {"offsets": result.offsets, **columns(result, fields)}


def filters(v: Volley) -> dict:
    """Return the filters of each shot."""
    return {"mask": v.mask, "ignore_character": v.ignore}


def queries(policy: int, on_rays: bool) -> dict[str, Ask]:
    """Return every kind of query; policies judge, and chords cross, thin rays or thick segments."""

    def judged(asked: Any, v: Volley, options: dict) -> Any:
        table = POLICIES[policy]({} if isinstance(asked, PoseHistory) else GROUPS)
        given = {"energy": v.energy, "shot": v.shot, **filters(v), **options}
        if on_rays:
            return asked.judge_rays(v.start, ray(v), table, max_distance=v.reach, **given)
        return asked.judge_segments(v.start, v.end, table, radius=v.radius, **given)

    def ray(v: Volley) -> np.ndarray:
        along = v.end - v.start
        return np.where(np.abs(along).max(axis=1, keepdims=True) > 0.0, along, [0.0, 0.0, 1.0])

    def chords(asked: Any, v: Volley, options: dict) -> Any:
        if on_rays:
            return asked.chords_rays(v.start, ray(v), max_distance=v.reach, **filters(v), **options)
        return asked.chords_segments(v.start, v.end, radius=v.radius, **filters(v), **options)

    def near(v: Volley, options: dict) -> dict:
        return filters(v) | {key: value for key, value in options.items() if key != "inside"}

    return {
        "cast_segments": lambda w, v, o: columns(
            w.cast_segments(v.start, v.end, radius=v.radius, **filters(v), **o), HIT
        ),
        "cast_rays": lambda w, v, o: columns(
            w.cast_rays(v.start, ray(v), max_distance=v.reach, **filters(v), **o), HIT
        ),
        "occluded_segments": lambda w, v, o: {
            "hit": w.occluded_segments(v.start, v.end, radius=v.radius, **filters(v), **o)
        },
        "occluded_rays": lambda w, v, o: {
            "hit": w.occluded_rays(v.start, ray(v), max_distance=v.reach, **filters(v), **o)
        },
        "chords": lambda w, v, o: compressed(chords(w, v, o), CHORD),
        "judge": lambda w, v, o: columns(judged(w, v, o), JUDGED),
        "impacts": lambda w, v, o: compressed(judged(w, v, o).impacts, IMPACT),
        "contains_points": lambda w, v, o: columns(w.contains_points(v.start, **near(v, o)), POINT),
        "closest_points": lambda w, v, o: columns(
            w.closest_points(v.start, max_distance=v.reach, **near(v, o)), NEAREST
        ),
        "points_within": lambda w, v, o: compressed(w.points_within(v.start, v.energy, **near(v, o)), NEAR),
        "overlap_spheres": lambda w, v, o: compressed(w.overlap_spheres(v.start, v.energy, **near(v, o)), NEAR),
        "overlap_boxes": lambda w, v, o: compressed(
            w.overlap_boxes(v.start, [0.0, 0.6, 0.0, 0.8], v.energy[:, None] * [0.1, 0.2, 0.3] + 0.1, **near(v, o)),
            OVERLAP,
        ),
        "overlap_capsules": lambda w, v, o: compressed(
            w.overlap_capsules(v.start, v.end, v.radius, **near(v, o)), OVERLAP
        ),
    }


def of_worlds(ask: Ask, moments: Sequence[Moment], volley: Volley, options: dict) -> Columns:
    """Return the results of each moment's shots in its world, with limbs renumbered to rows of the state."""
    parts = []
    for moment in moments:
        found = ask(moment.world, volley.rows(moment.rows), options)
        if "limb" in found:
            found["limb"] = np.append(moment.kept, -1).astype(np.int32)[found["limb"]]
        parts.append(found)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if "offsets" in joined:
        counts = np.concatenate([np.diff(part["offsets"]) for part in parts])
        joined["offsets"] = np.concatenate([[0], np.cumsum(counts)])
    return joined


def in_order(found: Columns, order: np.ndarray) -> Columns:
    """Return the columns, or the compressed rows, in another order of rays."""
    if "offsets" not in found:
        return {name: column[order] for name, column in found.items()}
    begin, count = found["offsets"][:-1][order], np.diff(found["offsets"])[order]
    rows = np.concatenate([np.arange(b, b + c) for b, c in zip(begin, count, strict=True)] or [begin]).astype(int)
    taken = {name: column[rows] for name, column in found.items() if name != "offsets"}
    return {"offsets": np.concatenate([[0], np.cumsum(count)]), **taken}
