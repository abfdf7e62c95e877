"""What is the matter with an engine as a whole, said in words: read off the measured properties and the counts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cylcollide.constants import ROUNDING_BOUND
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject

ENOUGH = 20
"""True hits of a limb that an engine that knows the limb cannot all fail to report."""


@dataclass(frozen=True)
class Finding:
    """One sentence and the numbers behind it."""

    name: str
    text: str
    evidence: JsonObject


def diagnose(
    calibrations: Sequence[JsonObject], limb_hits: Sequence[int], limb_reported: Sequence[int], lost: int
) -> Iterator[Finding]:
    """Name what stands out: in what was measured of the default setup, and in counts.

    Of the humanoid's limbs, how often each is truly hit first and how often the engine says so; and how many missed
    hits came back when asked for alone.
    """
    default = [c for c in calibrations if c["setup"] == asdict(DEFAULT)]
    if default:
        yield from _measured(default)
    silent = [i for i, (h, r) in enumerate(zip(limb_hits, limb_reported, strict=True)) if h >= ENOUGH and r == 0]
    if silent:
        hits = [int(limb_hits[i]) for i in silent]
        text = f"limb {', '.join(map(str, silent))} is never reported, though it is hit {sum(hits)} times"
        yield Finding("limb missing", text, {"limbs": silent, "hits": hits})
    if lost:
        yield Finding(
            "rays lost", f"{lost} hits are lost that come back when the same ray is asked alone", {"lost": lost}
        )


def _measured(default: Sequence[JsonObject]) -> Iterator[Finding]:
    names = ("radius", "half", "stop", "rim", "cap_growth", "caps_open", "single")
    radius, half, stop, rim, cap, caps_open, single = (np.array([c[name] for c in default]) for name in names)
    side = np.array([c["side_growth"][1] for c in default])
    rounding = 4 * ROUNDING_BOUND * (radius + half)
    if stop.max() > rounding.max() and not single.all():
        text = f"rays stop {1e3 * stop.max():.6g} mm in front of a limb"
        yield Finding("stops early", text, {"stop": float(stop.max())})
    if rim.max() > rounding.max():
        text = f"rims are rounded with a radius of {1e3 * rim.max():.6g} mm"
        yield Finding("rounded rim", text, {"rim": float(rim.max())})
    # Larger or smaller by the same share of its size, for every size that was measured.
    shares = side / radius
    if (np.abs(side) > rounding).all() and np.ptp(shares) <= 0.01 * np.abs(shares).max():
        word, share = "inflated" if shares[0] > 0 else "shrunk", float(np.median(shares))
        text = f"every limb is {word} by {100 * abs(share):.3g} % of its radius"
        yield Finding(word, text, {"side_share": share, "cap_share": float(np.median(cap / half))})
    if caps_open.all():
        yield Finding("ends open", "limbs have no caps: rays enter through them", {"limbs_measured": len(default)})
    if single.all():
        yield Finding(
            "single precision", "all fractions reported are float32 numbers", {"limbs_measured": len(default)}
        )
