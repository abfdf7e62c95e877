"""Every query of a mirror, for tests of what its loops need."""

import numpy as np
import pybullet as p
from support import pybullet_scenes as scenes

from cylcollide.bullet import Mirror


def call_every_query(c):
    """Every query of a mirror, beside planes, limbs and meshes, before and after everything has moved."""
    rng = np.random.default_rng(1)
    scenes.geometry(c, rng)
    duck = p.loadURDF("duck_vhacd.urdf", [0, 0, 1], globalScaling=5, physicsClientId=c)
    mirror = Mirror(c, mesh="wrap")
    for n in (1, 300):
        starts, ends = scenes.rays(rng, n, 2.0, [0.0, 0.0, 0.0])
        starts[0, 2] = ends[0, 2] = -2.0
        mirror.rayTest(starts[0], ends[0])
        for number in (-1, 0, 1):
            mirror.rayTestBatch(starts, ends, reportHitNumber=number)
        hits = mirror.cast_segments(starts, ends)
        assert len(hits.exit_position) == len(hits.normal) == len(hits.thickness) == n
        mirror.chords_segments(starts, ends)
        mirror.occluded_segments(starts, ends)
        mirror.contains_points(starts)
        for body in range(duck + 1):
            p.resetBasePositionAndOrientation(body, rng.normal(size=3).tolist(), [0, 0, 0, 1], physicsClientId=c)
