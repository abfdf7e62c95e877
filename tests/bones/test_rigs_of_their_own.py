"""Characters with a rig of their own each: one loop places them, with the bits of separate calls."""

import numpy as np
import pytest
from support.character_life import all_shapes_rig

import cylcollide as cc

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


def test_each_has_the_bits_of_its_rig():
    """Also after the rigs are renumbered, because a character without a pose is despawned."""
    world, rng, rig = cc.HitWorld(cc.Limbs.spheres([9, 9, 9], 1.0)), np.random.default_rng(1), all_shapes_rig()
    without_pose = world.spawn(rig.scaled(7.0))
    rigs = [rig.scaled(1.0 + 0.1 * k) for k in range(5)]
    ids = np.concatenate([world.spawn(one) for one in rigs])
    for _ in range(2):
        at, turn = rng.normal(size=(5, 4, 3)), rng.normal(size=(5, 4, 4))
        order = rng.permutation(5)
        world.set_poses(ids[order], at[order], turn[order])
        placed = [one.place(at[k], turn[k], character=ids[k]) for k, one in enumerate(rigs)]
        assert cc.HitWorld(world.limbs[1:]).limbs == cc.HitWorld(cc.Limbs.concat(placed)).limbs
        if len(world.characters) == 6:
            world.despawn(without_pose)
    turn[3, 2] = 0.0
    with pytest.raises(ValueError, match=rf"row 3 \(character {ids[3]}\)"):
        world.set_poses(ids, at, turn)
