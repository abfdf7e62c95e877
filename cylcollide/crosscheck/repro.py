"""Scripts that show the engine's wrong answer beside the right one, with nothing but PyBullet and rational numbers.

Bullet casts a ray at every body by itself, so a script holds only the limbs that matter: the true one and the engine's.
The bodies are built from the same numbers as in :mod:`cylcollide.engines.bullet`, to the last bit.
"""

from pathlib import Path

import numpy as np

from cylcollide.crosscheck._templates import template
from cylcollide.crosscheck.result import CrosscheckResult
from cylcollide.crosscheck.words import headline
from cylcollide.crosscheck.worst import WorstRay, worst_rays
from cylcollide.engines.bullet import axis_quaternion


def write_repros(result: CrosscheckResult, folder: Path, count: int = 10) -> list[Path]:
    """Write ``folder/repro/01.py`` and on, one script for each of the worst rays; scripts of an earlier run go.

    Parameters
    ----------
    result
        What the cross-check found.
    folder
        The report's folder; ``repro`` is made in it if needed.
    count
        How many scripts to write at most.

    Returns
    -------
    list of Path
        The scripts, worst ray first; fewer than ``count`` if fewer rays are wrong.
    """
    target = folder / "repro"
    target.mkdir(parents=True, exist_ok=True)
    for stale in target.glob("[0-9][0-9].py"):
        stale.unlink()
    paths = []
    for worst in worst_rays(result, count):
        path = folder / worst.script
        path.write_text(repro_source(result, worst), encoding="utf-8")
        paths.append(path)
    return paths


def repro_source(result: CrosscheckResult, worst: WorstRay) -> str:
    """Return the text of one script; every coordinate is written so that it reads back as the same float64."""
    headline_text = f"{headline(result, worst)} Bullet {worst.ray} of seed {result.seed}."
    limbs = [_limb_literals(result, worst.pose, limb) for limb in worst.limbs]
    return template("repro.py.j2", escape=False).render(
        headline=_plain(headline_text), start=worst.start, end=worst.end, limbs=limbs
    )


def _plain(text: str) -> str:
    """Text that may stand between triple quotes."""
    return text.replace("\u00a0", " ").replace("\\", "/").replace('"', "'")


def _limb_literals(result: CrosscheckResult, pose: int, limb: int) -> dict[str, object]:
    """One limb twice: as this library is told of it, and as ``createMultiBody`` is.

    The body is computed with the very operations of :mod:`cylcollide.engines.bullet`, since one unit in the last place
    of its height can move Bullet's hit by half a millimetre.
    """
    p1, p2 = result.poses.p1[pose, limb], result.poses.p2[pose, limb]
    axis = p2 - p1
    return {
        "name": repr(result.poses.limb_names[limb]),
        "p1": tuple(p1.tolist()),
        "p2": tuple(p2.tolist()),
        "radius": float(result.poses.radius[limb]),
        "center": tuple((p1 + 0.5 * axis).tolist()),
        "height": float(np.linalg.norm(axis[None], axis=1)[0]),
        "quaternion": tuple(float(q) for q in axis_quaternion(axis)),
    }
