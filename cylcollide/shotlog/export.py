"""Shots of a log as a table for other programs: Parquet, a row per shot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.shotlog.logged import LoggedShots

JUDGED = ("hit", "limb", "character", "rig_limb", "limb_name", "hit_group", "distance", "damage", "energy_left")


def write_parquet(log: LoggedShots, path: Path, progress: Callable[[int, int], None]) -> int:
    """Write all shots as they are judged again; returns how many.

    ImportError without pyarrow: install the extra `rejudge`; OSError if the file cannot be written.
    """
    import pyarrow  # noqa: PLC0415  # an extra
    from pyarrow import parquet  # noqa: PLC0415

    columns: dict[str, list[Any]] = {}
    done = 0
    for shots, judged in log._judged_calls():
        rows: dict[str, Any] = {name: getattr(judged, name).tolist() for name in JUDGED}
        rows |= {f"position_{axis}": judged.position[:, k].tolist() for k, axis in enumerate("xyz")}
        for name in ("start", "end"):
            places = np.array([getattr(shot, name) for shot in shots]).reshape(-1, 3)
            rows |= {f"{name}_{axis}": places[:, k].tolist() for k, axis in enumerate("xyz")}
        rows |= {name: [getattr(shot, name) for shot in shots] for name in ("number", "row", "tick", "time", "energy")}
        rows["policy"] = [shot.policy.kind for shot in shots]
        rows["note"] = [None if shot.note is None else json.dumps(shot.note) for shot in shots]
        for name, values in rows.items():
            columns.setdefault(name, []).extend(values)
        done += len(shots)
        progress(done, len(log))
    parquet.write_table(pyarrow.table(columns), path)
    return done
