"""Bodies with joints of every kind, and functions that move them, for the tests of `cylcollide.bullet`."""

import pybullet as p
from support.pybullet_scenes import linked, quaternion


def chain(c, rng, mass=1.0, bare=False):
    """Make five capsules, or four on a bare base, with a joint of each kind and shifted centres of mass."""
    made = [p.createCollisionShape(p.GEOM_CAPSULE, radius=0.1, height=0.4, physicsClientId=c) for _ in range(5)]
    return linked(
        c, mass, -1 if bare else made[0], made[1:], rng,
        basePosition=rng.uniform(-3, 3, 3).tolist(),
        baseInertialFramePosition=[0.3, 0.1, 0.2],
        baseInertialFrameOrientation=quaternion(rng),
        linkJointTypes=[p.JOINT_REVOLUTE, p.JOINT_PRISMATIC, p.JOINT_SPHERICAL, p.JOINT_FIXED],
        linkJointAxis=[[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    )  # fmt: skip


def change(c, bodies, rng, api=p):
    """Move one body or joint, by simulation steps or directly, near or far."""
    body = int(rng.choice(bodies))
    joints = p.getNumJoints(body, c)
    kind = rng.integers(5)
    given = {} if api is not p else {"physicsClientId": c}
    if kind == 0:
        api.resetBaseVelocity(body, (80 * rng.normal(size=3)).tolist(), (80 * rng.normal(size=3)).tolist(), **given)
        api.stepSimulation(**given)
    elif kind == 1:
        api.resetBasePositionAndOrientation(body, rng.uniform(-4, 4, 3).tolist(), quaternion(rng), **given)
    elif kind == 2 and joints:
        api.resetJointState(body, int(rng.integers(joints)), float(2 * rng.normal()), **given)
    else:
        for _ in range(rng.integers(1, 4)):
            api.stepSimulation(**given)


def bend(c, body, rng):
    """Set all joints of a body: random orientations, and positions with a standard deviation of 3."""
    for link in range(p.getNumJoints(body, c)):
        kind = p.getJointInfo(body, link, c)[2]
        if kind == p.JOINT_SPHERICAL:
            p.resetJointStateMultiDof(body, link, quaternion(rng), physicsClientId=c)
        elif kind != p.JOINT_FIXED:
            p.resetJointState(body, link, float(3 * rng.normal()), physicsClientId=c)


def rays(rng, n):
    """Short and long segments across the room."""
    starts = rng.uniform(-4, 4, (n, 3))
    return starts, starts + rng.choice([0.5, 3.0, 10.0]) * rng.normal(size=(n, 3))
