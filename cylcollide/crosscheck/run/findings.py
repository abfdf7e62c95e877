"""Faults of an engine as a whole, found in its calibrations and in counts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.run.tally import Tally

LIMBS = 15
"""Of the humanoid."""
ENOUGH = 20
"""True hits of a limb after which an engine that reports none of them does not hold the limb."""


def findings(tally: Tally) -> Iterator[JsonObject]:
    """Yield what stands out in calibrations of the default setup and in counts."""
    default = [c for c in tally.calibrations if c["setup"] == asdict(DEFAULT)]
    if default:
        yield from _measured(default)
    # For each limb of the humanoid, count true first hits and reported ones.
    records = [chunk.record for chunk in tally.chunks.values() if len(chunk.record["limb_hits"]) == LIMBS]
    hits, reported = (np.sum([r[name] for r in records], axis=0) for name in ("limb_hits", "limb_reported"))
    silent = np.flatnonzero((hits >= ENOUGH) & (reported == 0)).tolist()
    if silent:
        text = f"limb {', '.join(map(str, silent))} is never reported, though it is hit {hits[silent].sum()} times"
        yield _finding("limb missing", text, {"limbs": silent, "hits": hits[silent].tolist()})
    # A hit that came back when its ray was cast alone has no bound.
    came_back = np.isnan(tally.column("bound")) & (tally.column("cause") == Cause.API_LIMIT)
    if lost := int((came_back & (tally.column("kind") != Kind.LOST)).sum()):
        text = f"{lost} hits are lost that come back when the same ray is asked alone"
        yield _finding("rays lost", text, {"lost": lost})


def _measured(default: Sequence[JsonObject]) -> Iterator[JsonObject]:
    names = ("radius", "half", "stop", "rim", "cap_growth", "caps_open", "single")
    radius, half, stop, rim, cap, caps_open, single = (np.array([c[name] for c in default]) for name in names)
    side = np.array([c["side_growth"][1] for c in default])
    rounding = 4 * ROUNDING_BOUND * (radius + half)
    if stop.max() > rounding.max() and not single.all():
        text = f"rays stop {1e3 * stop.max():.6g} mm in front of a limb"
        yield _finding("stops early", text, {"stop": float(stop.max())})
    if rim.max() > rounding.max():
        text = f"rims are rounded with a radius of {1e3 * rim.max():.6g} mm"
        yield _finding("rounded rim", text, {"rim": float(rim.max())})
    # Larger or smaller by the same share of its size, for every size that was measured.
    shares = side / radius
    if (np.abs(side) > rounding).all() and np.ptp(shares) <= 0.01 * np.abs(shares).max():
        word, share = "inflated" if shares[0] > 0 else "shrunk", float(np.median(shares))
        text = f"every limb is {word} by {100 * abs(share):.3g} % of its radius"
        yield _finding(word, text, {"side_share": share, "cap_share": float(np.median(cap / half))})
    if caps_open.all():
        yield _finding("ends open", "limbs have no caps: rays enter through them", {"limbs_measured": len(default)})
    if single.all():
        yield _finding(
            "single precision", "all fractions reported are float32 numbers", {"limbs_measured": len(default)}
        )


def _finding(name: str, text: str, evidence: JsonObject) -> JsonObject:
    """One sentence and the numbers behind it."""
    return {"name": name, "text": text, "evidence": evidence}
