"""Thick segments that pass limbs at 1 ± 10⁻¹ to 10⁻¹⁷ times their radius: verdicts against least distances."""

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS, limb_of
from support.check_cylinders import IS_COMPILED
from support.oracle.thick import distance

import cylcollide as cc
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.thick_surface import nearest_place
from cylcollide.query.exact_fallback import exact_limb

SURE = 2.0**-58
"""Error of the oracle's distances, for coordinates up to 4."""


def grazing(kind, n, rng):
    """Limbs, starts, ends and radii of n segments that nearly touch; a quarter along the axis."""
    limbs, starts, ends, radii = [], np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    for i in range(n):
        limb = limb_of(kind, rng)
        point = 0.5 * (limb.p1 + limb.p2)[0] + rng.normal(size=3)
        place = [high for high, _ in nearest_place(tuple((x, 0.0) for x in point.tolist()), plain_limb(limb._table, 0))]
        outward = point - place
        while not (size := np.linalg.norm(outward)) > 1e-3:
            outward = rng.normal(size=3)
        outward /= size
        radii[i] = rng.choice([1e-6, 0.01, 0.1, 1.0])
        centre = place + outward * radii[i] * (1.0 + rng.choice([-1.0, 0.0, 1.0]) * 10.0 ** -rng.integers(1, 18))
        axis = (limb.p2 - limb.p1)[0]
        heading = axis if rng.random() < 0.25 and axis.any() else rng.normal(size=3)
        if np.linalg.norm(np.cross(heading, outward)) < 1e-3:  # straight above a cap
            heading = rng.normal(size=3)
        heading = np.cross(outward, np.cross(heading, outward))
        heading /= np.linalg.norm(heading)
        starts[i], ends[i] = centre - heading * rng.uniform(0.1, 2.0), centre + heading * rng.uniform(0.1, 2.0)
        limbs.append(limb)
    return cc.Limbs.concat(limbs), starts, ends, radii


def least_distance(limb, start, end):
    """Least distance from the centre to the limb by repeated sampling; it is convex except for a tube's."""
    t, step = np.linspace(np.longdouble(0), np.longdouble(1), 201), end.astype(np.longdouble) - start
    for _ in range(14):
        d = distance(limb, start + t[:, None] * step)
        k = int(np.argmin(d))
        t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 41)
    return d.min()


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("n", [12, pytest.param(2000, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_grazes_of_bounded_shapes(kind, n):
    """Rational arithmetic decides the others, below."""
    rng = np.random.default_rng([n, KINDS.index(kind)])
    limbs, starts, ends, radii = grazing(kind, n if IS_COMPILED else 12, rng)
    hits = limbs.cast_segments(starts, ends, radius=radii)
    wrong, sure = [], 0
    for i in range(len(radii)):
        gap = least_distance(limbs[i], starts[i], ends[i]) - np.longdouble(radii[i])
        if abs(gap) > SURE and not hits.undecided[i]:
            sure += 1
            wrong += [i] if hits.hit[i] != (gap < 0) else []
        if hits.hit[i] and not hits.undecided[i]:
            centre = starts[i] + np.longdouble(hits.fraction[i]) * (ends[i].astype(np.longdouble) - starts[i])
            beyond = distance(limbs[i], centre[None])[0] - radii[i]
            inside = hits.face[i] == cc.Face.INSIDE
            wrong += [i] if not (beyond < 1e-9 and (inside or beyond > -2e-15)) else []
    assert wrong == []
    assert sure > 0.2 * len(radii)
    assert n < 100 or len({*hits.hit.tolist()}) == 2


def test_a_thin_ray_along_a_wall_is_not_early():
    """It hits the rim at an angle and goes on along the wall: bounds must be narrow for the rim, not the wall."""
    ends = (
        [[-0.5442547965099784, -0.871468730561797, -0.7604044155150489]],
        [[-0.12765590355245426, -0.5015685444733962, -0.1907855332257169]],
    )
    limb = cc.Limbs.tapered_cylinders(*ends, 0.4258485880474246, 0.3101557678694462)
    start = np.array([0.4701152723551486, -1.5194570913524335, 0.03302563919482721])
    end = np.array([-1.0006910929418216, 1.2373932449022875, -0.6815278307060366])
    hits = limb.cast_segments([start], [end], radius=1e-6)
    centre = start + np.longdouble(hits.fraction[0]) * (end.astype(np.longdouble) - start)
    assert hits.hit[0]
    assert not hits.undecided[0]
    assert -1e-15 < distance(limb, centre[None])[0] - 1e-6 < 1e-12


EXACT = [kind for kind in KINDS if kind not in BOUNDED]
PARTS, CASES = 50, 4000
"""A million cases in all, 20,000 a part for five shapes: half an hour or more."""


def fraction_of(time):
    return 1.0 if time is None else float(time.double_double()[0])


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(1 + k, marks=[pytest.mark.long, pytest.mark.timeout(3600)]) for k in range(PARTS))]
)
def test_grazes_by_rational_arithmetic(kind, part):
    n, rng = CASES if part else 20, np.random.default_rng([part, EXACT.index(kind), 5])
    limbs, starts, ends, radii = grazing(kind, n, rng)
    size = np.maximum(np.abs(starts).max(axis=1), np.abs(ends).max(axis=1)) + radii
    slack = 4.0 * np.spacing(size) / np.linalg.norm(ends - starts, axis=1) + 2.0**-52
    first, leaves = (limbs.cast_segments(starts, ends, inside=inside, radius=radii) for inside in ("hit", "exit"))
    wrong = []
    for i in range(n):
        solid = grown_by(exact_limb(limbs._table, i), float(radii[i]))
        chords = limb_chords(segment_numbers(starts[i], ends[i]), solid)
        same = first.hit[i] == (len(chords) > 0)
        if chords:
            entry = fraction_of(chords[0].entry)
            same &= first.face[i] == chords[0].entry_face and abs(first.fraction[i] - entry) <= slack[i]
            if chords[0].started_inside:
                same &= leaves.hit[i] == (chords[0].exit_face != cc.Face.INSIDE)
                end = fraction_of(chords[0].exit)
                same &= not leaves.hit[i] or abs(leaves.fraction[i] - end) <= slack[i]
        wrong += [] if same else [i]
    assert wrong == []
    assert n < 100 or 0.2 * n < first.hit.sum() < 0.95 * n
