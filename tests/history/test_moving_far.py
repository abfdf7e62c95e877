"""Flights so long, relative to their intervals, that double-doubles cannot represent the interval ends."""

import numpy as np
import pytest
from support.one_limb import one_bone_rig
from support.oracle.moving_bullets import Bullet, Ticks

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

FAR, SHORT = 2.0**83, 1.2e-26
"""Metres that a bullet flies in a second; seconds of the tick in which it is near the limb, for 12 cm."""


def test_contacts_at_the_end_of_a_short_interval_of_a_long_flight():
    """Places in such an interval err by 10⁻⁸ m and more: float64 does not decide whether a limb is reached in it."""
    offsets = np.concatenate([-np.geomspace(1e-7, 1e-11, 12), np.geomspace(1e-11, 1e-7, 12)])
    ticks = (-0.5, 0.0, SHORT, 1.0)
    for row, offset in enumerate(offsets.tolist()):
        ball = cc.Limbs.spheres([[0.3, 0.0, 0.0]], 0.3 - FAR * SHORT + offset)
        world, rig = cc.HitWorld(), one_bone_rig(ball)
        history = PoseHistory(world)
        history.record(ticks[0])  # the limb appears later: the rest of the flight, exact for its length, is not near it
        world.set_poses(world.spawn(rig), [[[0, 0, 0]]], [[[0, 0, 0, 1]]])
        for time in ticks[1:]:
            history.record(time)
        # the bullet is at FAR · t; its fraction there takes a division by 1.5
        start, end = np.array([-0.5 * FAR, 0.0, 0.0]), np.array([FAR, 0.0, 0.0])
        hit = history.cast_moving(start, end, *ticks[:4:3])[0]
        want = Ticks(history, 0).first_contact(Bullet(start, end, *ticks[:4:3]))
        assert (hit.tick, hit.limb, hit.face) == (want.tick, want.limb, want.face), row
