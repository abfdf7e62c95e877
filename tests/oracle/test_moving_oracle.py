"""Contacts with moving limbs against an oracle of another method, on families of motions, mostly edge cases."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from support.cases.motions import FAMILIES, SHAPES, everyday, grazing, least_gauge, tangent, vanishing, whole
from support.check_cylinders import sized
from support.check_motions import check_motion
from support.oracle import moving as oracle
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE
from support.oracle.lines import BORE

from cylcollide._types import Shape
from cylcollide.exact.contacts import first_contact
from cylcollide.exact.moving import Motion, contact_intervals

WHOLE = whole, tangent, vanishing
"""The families of whole numbers."""
FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


def tally(motions: list[Motion]) -> Counter[str]:
    """Compare all motions; return the counts of verdicts, shapes, faces and kinds of contact."""
    seen: Counter[str] = Counter()
    for m in motions:
        _, runs = check_motion(m)
        seen["hit" if runs else "miss"] += 1
        seen[Shape(m.shape).name, bool(runs)] += 1
        seen["several"] += len(runs) > 1
        for run in runs:
            seen["touch"] += run.entry is run.exit
            seen["open entry"] += run.entry_open
            seen["open exit"] += run.exit_open
            seen[run.face] += 1
    return seen


def drawn(family, count: int, seed: int) -> list[Motion]:
    """Return `count` motions of each shape."""
    rng = Random(seed)
    return [family(rng, shape) for _ in range(count) for shape in SHAPES]


@pytest.mark.parametrize("family", [one for one in FAMILIES if one not in WHOLE], ids=lambda family: family.__name__)
def test_oracle_confirms_contacts(family):
    count = sized(3, 16)
    seen = tally(drawn(family, count, seed=32))
    assert min(seen["hit"], seen["miss"]) > 0.5 * count


@pytest.mark.long
@FAMILY
def test_oracle_confirms_contacts_for_long(family):
    seen = tally(drawn(family, 1000, seed=33))
    assert min(seen["hit"], seen["miss"]) > 500


# What the families cover --------------------------------------------------------------------------------------------


def test_whole_numbers_give_every_kind_of_contact():
    seen = tally([m for family in WHOLE for m in drawn(family, sized(6, 16), seed=33)])
    for what in ("touch", "open entry", "open exit", "several", SIDE, CAP1, CAP2, INSIDE):
        assert seen[what] > 2, what
    assert all(seen[shape.name, hit] > 2 for shape in SHAPES for hit in (True, False))


def test_grazes_of_every_depth_are_decided_both_ways():
    """A bullet with a least gauge of at most 1 - 1e-9 in float64 hits, tubes apart; both verdicts occur."""
    rng, seen = Random(34), Counter()
    for k in range(sized(120, 75)):
        m = grazing(rng, SHAPES[k % len(SHAPES)])
        verdict = bool(contact_intervals(m))
        least = least_gauge(m)
        if m.shape != Shape.TUBE:
            assert verdict or least > 1 - 1e-9, m
        seen[verdict] += 1
    assert min(seen[True], seen[False]) > sized(120, 75) / 5


def test_bores_are_hit():
    seen = tally([everyday(Random(seed), Shape.TUBE) for seed in range(sized(24))])
    assert seen[BORE] > 2


# Order --------------------------------------------------------------------------------------------------------------


def beside(rng: Random, m: Motion) -> Motion:
    """Return a limb with the entry of the given one, or close to it: another shape, or a radius one ulp off."""
    other = m._replace(radius=float(np.nextafter(m.radius, rng.choice([0.0, np.inf]))))
    alike = [Shape.CYLINDER, Shape.TUBE, Shape.TAPERED, Shape.CAPSULE]
    if m.shape not in alike or (m.shape == Shape.TAPERED and m.radius != m.radius2):
        return rng.choice([m, other])
    shape = rng.choice(alike)
    radius2 = {Shape.TUBE: m.radius / 2, Shape.TAPERED: m.radius}.get(shape, 0.0)
    return rng.choice([m, other])._replace(shape=shape, radius2=radius2)


@FAMILY
def test_oracle_confirms_order_of_limbs(family):
    count, rng, seen = sized(3, 10), Random(35), Counter()
    for m in drawn(family, count, seed=37):
        limbs = [m, beside(rng, m), family(rng, m.shape)._replace(start=m.start, end=m.end, interval=m.interval)]
        first = [(contact_intervals(limb)[:1], oracle.runs(limb)[:1]) for limb in limbs]
        met = [(row, found[0], want[0]) for row, (found, want) in enumerate(first) if found]
        for row, one, true in met:
            for other_row, other, other_true in met:
                order = true.entry.compare(other_true.entry) or true.entry_open - other_true.entry_open
                assert one.compare_entry(other) == order, (limbs[row], limbs[other_row])
                seen[order] += row != other_row
        if met:
            found = first_contact((row, contact) for row, contact, _ in met)
            assert found is not None
            assert all((found[1].compare_entry(c) or found[0] - row) <= 0 for row, c, _ in met)
    assert seen[1] + seen[0] > count
    assert seen[0] > 2
