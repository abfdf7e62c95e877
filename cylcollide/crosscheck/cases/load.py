"""Cases out of any file that a cross-check leaves: cases.json, a single case, rays.npz of a humanoid run."""

from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.crosscheck.cases.case import UNKNOWN, Case, case_of, foreign, read_cases
from cylcollide.crosscheck.cases.fields import UNNAMED
from cylcollide.crosscheck.generate.shots import Intent, ShotScene, shots
from cylcollide.crosscheck.records import plain
from cylcollide.engines import EngineHits

RAYS_SCHEMA = 1
PLACE = "FAMILY/SEED/CHUNK/SCENE/ROW"


def read_chosen(path: Path, row: int | None, place: str | None) -> list[Case]:
    """Read the cases of ``cases.json``, of a single case as JSON or of ``rays.npz``.

    All of them, the one of a row, counted from 0, or those at a place, ``Case.address``, at which two kinds may stand.
    ValueError, in one line, if the file holds something else, or has no such row or place.
    """
    if row is not None and place is not None:
        raise ValueError("expected --row or --place, got both; leave one of them out")
    cases = _read_rays(path) if path.suffix == ".npz" else read_cases(path)
    if not cases:
        raise ValueError(f"{path}: expected at least one case, got none; there is nothing to replay")
    if row is not None:
        if not 0 <= row < len(cases):
            raise ValueError(f"--row: expected 0 to {len(cases) - 1}, the rows of {path}, got {row}")
        return [cases[row]]
    if place is not None:
        found = [case for case in cases if case.address == place]
        if not found:
            such = cases[0].address
            raise ValueError(f"--place: expected {PLACE} of a case of {path}, such as {such}, got {place!r}")
        return found
    return cases


def _read_rays(path: Path) -> list[Case]:
    # Opened here: np.load forgets to close a file that it cannot read.
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as rays:
                columns = {name: rays[name] for name in rays.files}
            if int(columns["schema"]) != RAYS_SCHEMA:
                raise ValueError(f"schema {columns['schema']}, not {RAYS_SCHEMA}")
            return [_case_of_ray(columns, row) for row in range(len(columns["ray"]))]
        except Exception as error:  # what zip, zlib and NumPy make of a foreign file or array
            raise foreign(path, "rays as `cylcollide crosscheck` writes them", error) from error


def _case_of_ray(rays: dict[str, Any], row: int) -> Case:
    """One row as a case without a cause; a place of it is its family, then the pose and the bullet's number."""
    pose, kind, this = int(rays["pose"][row]), str(rays["kinds"][rays["kind"][row]]), slice(row, row + 1)
    segment = shots(rays["start"][this], rays["end"][this], Intent.EITHER)
    scene = ShotScene(rays["pose_p1"][pose], rays["pose_p2"][pose], rays["limb_radius"], segment)
    names = ("limb", "fraction", "position", "normal")
    true, engine = (EngineHits(*(rays[f"{name}_{side}"][this] for name in names)) for side in ("true", "engine"))
    apart = float(np.linalg.norm(true.position[0] - engine.position[0]))
    family, seed = str(rays["families"][rays["family"][row]]), int(rays.get("seed", UNKNOWN))
    place = {"family": family, "seed": seed, "chunk": 0, "scene": pose, "row": int(rays["ray"][row])}
    amount = apart if kind == "wrong limb" else plain(float(rays["clearance"][row]))
    told = {"kind": kind, "cause": UNNAMED, "amount": amount, "measured": None, "bound": None}
    case = case_of(scene, 0, true, engine, **place, **told, names=[str(name) for name in rays["limb_names"]])
    return Case.read(case.record())
