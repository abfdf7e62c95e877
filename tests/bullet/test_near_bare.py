"""Bodies whose bases have no shape: near repeated rays their links are read at once, elsewhere boxes are read first."""

import numpy as np
import pybullet as p
import support.pybullet_chains as chains
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror
from cylcollide.bullet.client import Client
from cylcollide.bullet.near_bodies import _is_centred


def bare_bodies(c, rng):
    """Bodies whose bases have no shape."""
    bodies = [chains.chain(c, rng, mass, bare=True) for mass in (1.0, 0.0)]
    for fixed in (False, True):
        position = rng.uniform(-3, 3, 3).tolist()
        bodies.append(scenes.person(c, position, useFixedBase=fixed))
    return bodies


def test_links_of_bare_bodies_are_read_first_for_repeated_rays(c, near_calls):
    rng = np.random.default_rng(3)
    bodies, at_once, hits = bare_bodies(c, rng), [], 0
    mirror, whole = Mirror(c, follow=False), Mirror(c, follow=False)
    watched, saved = mirror.watch(), p.saveState(physicsClientId=c)
    for k in range(32):
        chains.change(c, bodies, rng, watched)
        if k % 12 == 11:
            watched.restoreState(saved)
        center = np.array(p.getBasePositionAndOrientation(bodies[k // 8], c)[0])
        starts = center + rng.normal(size=(31, 3))
        near = mirror._follower._near
        at_once.append(0 if near is None else int(near._kept[-1][0].read.sum()))
        answers = mirror.rayTestBatch(starts, 2 * center - starts)
        whole.sync()
        assert answers == whole.rayTestBatch(starts, 2 * center - starts), k
        hits += sum(answer[0] >= 0 for answer in answers)
    assert hits > 100
    assert 0 in at_once[10:] or 1 in at_once[10:], "a body that rays have left is looked at first"
    assert max(at_once) >= 2
    assert sum(one.answers is not None for one in near_calls) > 25


USED_AGAIN = {"often", "read", "batch", "queue", "made", "table", "rows", "hits"}
"""Fields of the memory that keep their contents from one ray test to the next."""


def test_other_memory_of_the_last_ray_test_does_not_matter(c):
    rng, hits = np.random.default_rng(4), 0
    given = {"flags": p.URDF_USE_IMPLICIT_CYLINDER, "physicsClientId": c}
    bodies = [p.loadURDF("r2d2.urdf", [1.5 * k, 0, 0.5], **given) for k in range(4)]
    bodies += [*bare_bodies(c, rng), *bare_bodies(c, rng)[:2]]  # more than 8, fewer than 16
    mirror, whole = Mirror(c, mesh="wrap"), Mirror(c, mesh="wrap", follow=False)
    for k in range(24):
        p.stepSimulation(c)
        angle = rng.permutation(100) / 50 * np.pi
        starts = np.tile(rng.uniform([0, -1, 0.2], [5, 1, 0.8]), (100, 1))
        ends = starts + 8 * np.stack([np.cos(angle), np.sin(angle), np.zeros(100)], 1)
        near = mirror._follower._near
        for name, column in near._kept[-1][0]._asdict().items() if near else ():
            if name not in USED_AGAIN:
                column[...] = rng.integers(0, 2, column.shape)
        answers = mirror.rayTestBatch(starts.tolist(), ends.tolist())
        whole.sync()
        assert answers == whole.rayTestBatch(starts, ends), k
        hits += sum(answer[0] in bodies[:4] for answer in answers)
    assert mirror._follower._near._kept[-1][0].read.sum() > 3, "bodies near rays are read at once"
    assert hits > 500


def test_a_bare_base_is_at_the_centre_of_its_box(c):
    bodies, client = bare_bodies(c, np.random.default_rng(6)), Client(c)
    assert all(_is_centred(client, body, ()) for body in bodies)
    assert not _is_centred(client, bodies[0], None)
    p.resetBasePositionAndOrientation(bodies[0], [0, 0, 0], [0, 0, 0, 1], c)
    assert not _is_centred(client, bodies[0], ()), "what PyBullet reports without a box"
