"""Phrases that say which bound of a limb decided a verdict."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from cylcollide._types import Face
from cylcollide.exact.line import End, RayNumbers, Stretch, last_of
from cylcollide.exact.numbers import ZERO, QuadraticNumber
from cylcollide.exact.order import Chord
from cylcollide.exact.solid import Bound, Solid

Region = tuple[str, list[Stretch]]
"""A bound's name, and the stretches of the line within it; of a bore those within the bore, outside of the limb."""

LEAST_GAP = Fraction(1, 1 << 1074)
"""Stands in for a gap that the approximations of both its ends do not resolve."""

SEGMENT = Stretch(End(ZERO, Face.INSIDE), End(QuadraticNumber(1, 1), Face.INSIDE))


def region(bound: Bound) -> Region:
    """The stretches of the line within a bound."""
    return bound.name, bound.stretches if bound.hole is None else bound.hole


def why_hit(solid: Solid, ray: RayNumbers, chord: Chord) -> str:
    """What the segment reaches at the begin of its first stretch in the limb."""
    if chord.started_inside:
        return "it starts inside"
    body, *balls = solid.parts(ray)
    if balls:
        ball = {Face.CAP1: "the ball at p1", Face.CAP2: "the ball at p2"}.get(chord.entry_face)
        return f"it reaches {ball} first" if ball else "it reaches the wall before either ball"
    if chord.entry_face == Face.BORE:
        return "the bore ends last"
    if len(body) == 1:
        return f"it reaches the {body[0].name}"
    names = [name for name, stretches in _required(body) for s in stretches if _is_at(s.near, chord.entry)]
    return f"{_listed(names)} {'begins' if len(names) == 1 else 'begin'} last"


def why_missed(solid: Solid, ray: RayNumbers) -> str:
    """Which bound the segment stays outside of, leaves too early, or reaches too late."""
    body, *balls = solid.parts(ray)
    if not balls:
        return _apart(_required(body)) or "it stays in the bore"
    crossing = solid.crossing(ray)
    return _apart([("capsule", crossing)]) if crossing else f"{_apart(_required(body))}, and it misses both balls"


def _required(bounds: Sequence[Bound]) -> list[Region]:
    """The regions that the line must be within, all bounds but bores."""
    return [region(bound) for bound in bounds if bound.hole is None]


def _apart(required: list[Region]) -> str:
    """Why the segment is never within all of the regions at once; empty if it is."""
    never = [name for name, stretches in required if not stretches]
    if never:
        return f"its line stays outside {_listed(never)}"
    for regions in (required, [*required, ("segment", [SEGMENT])]):
        names = [name for name, _ in regions]
        gaps = [_gap(names, choice) for choice in product(*(stretches for _, stretches in regions))]
        gap, first, last = min(gaps)
        if gap > 0:
            break
    else:
        return ""
    if first == "segment":
        return f"it ends before it reaches the {last}"
    if last == "segment":
        return f"it starts after its line has left the {first}"
    return f"it leaves the {first} before it reaches the {last}"


def _gap(names: list[str], choice: tuple[Stretch, ...]) -> tuple[Fraction, str, str]:
    """How much later the last of the stretches begins than the first ends, 0 if not, and the names of the two."""
    near, far = None, None
    for stretch in choice:
        near, far = last_of(near, stretch.near), last_of(far, stretch.far, -1)
    if near is None or far is None or near.time.compare(far.time) <= 0:
        return Fraction(0), "", ""
    first = next(name for name, s in zip(names, choice, strict=True) if _is_at(s.far, far.time))
    last = next(name for name, s in zip(names, choice, strict=True) if _is_at(s.near, near.time))
    gap = Fraction(*near.time.approximate()) - Fraction(*far.time.approximate())
    return max(gap, LEAST_GAP), first, last


def _is_at(end: End | None, time: QuadraticNumber) -> bool:
    return end is not None and end.time.compare(time) == 0


def _listed(names: list[str]) -> str:
    """The names as a list in words: the a, the b and the c."""
    each = [f"the {name}" for name in dict.fromkeys(names)]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
