"""Flying bullets against `ipctk`, a conservative continuous collision detection: it confirms all hits of ours.

Tight inclusion (B. Wang and others, "A large-scale benchmark and an inclusion-based algorithm for continuous collision
detection", ACM TOG 40(5), 2021) may report false contacts and too early ones, but misses none. A capsule is a
point against a moving edge within a distance, a sphere one against a moving point. It is not the truth: a hit of
`ipctk` alone is no failure.
"""

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.moving_peers import history_of, outside_cube, pairs_of, peer_contacts

from cylcollide._types import Face

ipctk = pytest.importorskip("ipctk", reason="needs the extra peers")

pytestmark = [pytest.mark.long, pytest.mark.skipif(not IS_COMPILED, reason="thousands of bullets take machine code")]

N = 4000
ipctk.set_logger_level(ipctk.LoggerLevel.error)  # it warns about each bullet that starts in its limb


@pytest.mark.parametrize("kind", ["capsule", "sphere"])
@pytest.mark.parametrize("name", ["TightInclusionCCD", "AdditiveCCD"])
def test_no_hit_is_missed(kind: str, name: str):
    """Tight inclusion bounds the distance in the maximum norm.

    If a bullet starts in that cube, but not in the limb, it may miss the hit or report it late: 1 in 20 here.
    """
    pairs = pairs_of(np.random.default_rng(17), N, kind)
    ours = history_of(pairs, kind).cast_moving(pairs.start, pairs.end, 0.0, 1.0)
    hit, since = peer_contacts(getattr(ipctk, name)(), pairs, kind)
    assert np.array_equal(ours.limb[ours.hit], np.flatnonzero(ours.hit))
    beyond = outside_cube(pairs) if name == "TightInclusionCCD" else np.ones(N, bool)
    flying_in = ours.hit & (ours.face != Face.INSIDE)
    asked = flying_in & beyond
    assert hit[asked].all()
    assert (since <= ours.fraction)[asked].all()
    assert asked.sum() > 0.3 * N
    assert ((~ours.hit) & (~hit)).sum() > 0.1 * N  # it does not report a hit for every bullet
    assert (hit & (since > 1e-3)).sum() > 0.1 * N  # nor always at the start
    assert (flying_in & ~beyond & ~hit).any() == (name == "TightInclusionCCD")  # otherwise `beyond` is not needed


def test_a_wrong_radius_is_found():
    """The check can fail: `ipctk` gets a tenth of the radius, and misses some of our hits."""
    pairs = pairs_of(np.random.default_rng(18), 400, "capsule")
    ours = history_of(pairs, "capsule").cast_moving(pairs.start, pairs.end, 0.0, 1.0)
    hit, _ = peer_contacts(ipctk.AdditiveCCD(), pairs._replace(radius=0.1 * pairs.radius), "capsule")
    assert (ours.hit & (ours.face != Face.INSIDE) & ~hit).sum() > 20
