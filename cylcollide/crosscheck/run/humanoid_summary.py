"""The numbers of a cross-check: rows of the table, ``summary.json``, ``rays.npz``. Fields: ``docs/crosscheck.md``."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.judge.result import KINDS, Agreed, CrosscheckResult, Disagreements, FamilyRow

SCHEMA = 1
"""Version of ``summary.json`` and ``rays.npz``: raised when a field changes its meaning or goes away."""

MM_PER_METRE = 1000.0


def family_rows(
    family: Int32Array, hit: BoolArray, agreed: Agreed, disagreements: Disagreements
) -> tuple[FamilyRow, ...]:
    """Return one row per family, then the row of all.

    Parameters
    ----------
    family, hit
        Of every bullet of the sweep: its family code and whether it truly hits, (n,).
    agreed, disagreements
        What came of them.
    """
    codes: list[int | None] = [*range(len(BULLET_FAMILIES)), None]
    return tuple(_row(code, family, hit, agreed, disagreements) for code in codes)


def _row(code: int | None, family: Int32Array, hit: BoolArray, agreed: Agreed, wrong: Disagreements) -> FamilyRow:
    def of_family(families: Int32Array) -> BoolArray:
        return np.full(len(families), True) if code is None else families == code

    kinds = np.bincount(wrong.kind[of_family(wrong.family)], minlength=len(KINDS))
    mine = of_family(agreed.family)
    late = agreed.distance_error[mine] * MM_PER_METRE
    return FamilyRow(
        family="all" if code is None else BULLET_FAMILIES[code],
        rays=int(of_family(family).sum()),
        hits=int(hit[of_family(family)].sum()),
        missed=int(kinds[0]),
        phantom=int(kinds[1]),
        wrong_limb=int(kinds[2]),
        proved=int(wrong.proved[of_family(wrong.family)].sum()),
        early_mm=_median_99_max(-late[late < 0]),
        late_mm=_median_99_max(late[late > 0]),
        normal_deg=_median_99_max(agreed.normal_error[mine]),
    )


def _median_99_max(values: Float64Array) -> tuple[float, float, float]:
    if not len(values):
        return (np.nan, np.nan, np.nan)
    return float(np.median(values)), float(np.percentile(values, 99)), float(values.max())


def summary(result: CrosscheckResult) -> dict[str, Any]:
    """Return what ``summary.json`` holds; a figure over no rays is null."""
    motions = dict.fromkeys(result.poses.motion)
    return {
        "schema": SCHEMA,
        "engine": result.engine,
        "seed": result.seed,
        "rays": result.rays,
        "seconds": round(result.seconds, 3),
        "rechecked": result.rechecked,
        "versions": result.versions,
        "motions": list(motions),
        "poses": len(result.poses.motion),
        "limbs": [
            {"name": name, "radius": float(radius)}
            for name, radius in zip(result.poses.limb_names, result.poses.radius, strict=True)
        ],
        "rows": [_no_nan(asdict(row)) for row in result.rows],
    }


def write_summary(result: CrosscheckResult, folder: Path) -> Path:
    """Write ``summary.json`` and return its path."""
    path = folder / "summary.json"
    path.write_text(json.dumps(summary(result), indent=2, allow_nan=False) + "\n")
    return path


def write_rays(result: CrosscheckResult, folder: Path) -> Path:
    """Write every disagreement, every pose, and what tells the run from others, to ``rays.npz``; return its path."""
    path = folder / "rays.npz"
    wrong, poses = result.disagreements, result.poses
    arrays = {field.name: getattr(wrong, field.name) for field in fields(wrong)}
    np.savez_compressed(
        path,
        schema=np.array(SCHEMA),
        engine=np.array(result.engine),
        seed=np.array(result.seed),
        rays=np.array(result.rays),
        versions=np.array(json.dumps(result.versions, sort_keys=True)),
        families=np.array(BULLET_FAMILIES),
        kinds=np.array(KINDS),
        pose_motion=np.array(poses.motion),
        pose_time=poses.time,
        pose_p1=poses.p1,
        pose_p2=poses.p2,
        limb_radius=poses.radius,
        limb_names=np.array(poses.limb_names),
        **arrays,
    )
    return path


def _no_nan(row: dict[str, Any]) -> dict[str, Any]:
    # JSON has no NaN: the median of no values is null.
    return {
        key: [None if np.isnan(number) else number for number in value] if isinstance(value, tuple) else value
        for key, value in row.items()
    }
