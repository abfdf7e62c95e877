"""Thick segments that pass limbs at 1 ± 10⁻¹ to 10⁻¹⁷ times their radius: verdicts, faces and first contacts."""

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS
from support.oracle.thick import distance
from support.soak import near as soak

import cylcollide as cc


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", [3, pytest.param(600, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_grazes(kind, chunks):
    """Against rational arithmetic; bounded shapes against proofs in 90 digits."""
    groups = (soak.group(kind, np.random.default_rng([chunk, 2, 1])) for chunk in range(chunks))
    cases = [case for group in groups for case in soak.thick(group)]
    assert not any(case.wrong for case in cases)
    assert len(cases) > 20 * chunks
    assert any(case.undecided for case in cases) == (kind in BOUNDED)


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
