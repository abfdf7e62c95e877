"""What is the matter with an engine as a whole, said in words: read off the measured properties and the counts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.engine.setup import Setup

ENOUGH = 20
"""True hits of a limb that an engine that knows the limb cannot all fail to report."""


@dataclass(frozen=True)
class Finding:
    """One sentence and the numbers behind it."""

    name: str
    text: str
    evidence: dict[str, Any]


def diagnose(
    calibrations: Sequence[dict[str, Any]], limb_hits: Sequence[int], limb_reported: Sequence[int], lost: int
) -> list[Finding]:
    """Name what stands out.

    Parameters
    ----------
    calibrations
        What was measured; those of the default setup count.
    limb_hits, limb_reported
        Of the humanoid's limbs: how often each is truly hit first, and how often the engine says so.
    lost
        Missed hits that came back when asked for alone.
    """
    default = [c for c in calibrations if c["setup"] == asdict(Setup())]
    found = [*_stop(default), *_growth(default), *_caps(default), *_single(default)]
    silent = [i for i, (h, r) in enumerate(zip(limb_hits, limb_reported, strict=True)) if h >= ENOUGH and r == 0]
    if silent:
        hits = [int(limb_hits[i]) for i in silent]
        text = f"limb {', '.join(map(str, silent))} is never reported, though it is hit {sum(hits)} times"
        found.append(Finding("limb missing", text, {"limbs": silent, "hits": hits}))
    if lost:
        text = f"{lost} hits are lost that come back when the same ray is asked alone"
        found.append(Finding("rays lost", text, {"lost": lost}))
    return found


def _stop(default: list[dict[str, Any]]) -> list[Finding]:
    stop = max((c["stop"] for c in default), default=0.0)
    rim = max((c["rim"] for c in default), default=0.0)
    rounding = max((_rounding(c) for c in default), default=0.0)
    found = []
    if stop > rounding and not _single(default):
        found.append(Finding("stops early", f"rays stop {1e3 * stop:.6g} mm in front of a limb", {"stop": stop}))
    if rim > rounding:
        found.append(Finding("rounded rim", f"rims are rounded with a radius of {1e3 * rim:.6g} mm", {"rim": rim}))
    return found


def _growth(default: list[dict[str, Any]]) -> list[Finding]:
    # Larger or smaller by the same share of its size, for every size that was measured.
    side = np.array([c["side_growth"][1] / c["radius"] for c in default])
    cap = np.array([c["cap_growth"] / c["half"] for c in default])
    wrong = np.array([abs(c["side_growth"][1]) > _rounding(c) for c in default])
    if not len(side) or not wrong.all() or np.ptp(side) > 0.01 * np.abs(side).max():
        return []
    word = "inflated" if side[0] > 0 else "shrunk"
    share = float(np.median(side))
    text = f"every limb is {word} by {100 * abs(share):.3g} % of its radius"
    return [Finding(word, text, {"side_share": share, "cap_share": float(np.median(cap))})]


def _caps(default: list[dict[str, Any]]) -> list[Finding]:
    if default and all(c["caps_open"] for c in default):
        return [Finding("ends open", "limbs have no caps: rays enter through them", {"limbs_measured": len(default)})]
    return []


def _single(default: list[dict[str, Any]]) -> list[Finding]:
    if default and all(c["single"] for c in default):
        text = "all fractions reported are float32 numbers"
        return [Finding("single precision", text, {"limbs_measured": len(default)})]
    return []


def _rounding(c: dict[str, Any]) -> float:
    return float(4 * ROUNDING_BOUND * (c["radius"] + c["half"]))
