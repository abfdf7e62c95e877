"""PyBullet scenes and rays for the tests of `cylcollide.bullet`."""

from contextlib import contextmanager

import numpy as np
import pybullet as p
import pybullet_data


@contextmanager
def client():
    """Yield the number of a new DIRECT client."""
    number = p.connect(p.DIRECT)
    p.setAdditionalSearchPath(pybullet_data.getDataPath(), physicsClientId=number)
    try:
        yield number
    finally:
        p.disconnect(physicsClientId=number)


def quaternion(rng):
    """Return a random orientation."""
    four = rng.normal(size=4)
    return (four / np.linalg.norm(four)).tolist()


def linked(c, mass, base, links, rng=None, api=p, **given):
    """Make a body with links on joints about z, each 1 m from the previous one, or at random if `rng` is given.

    `given` replaces defaults; `api`: PyBullet, or a client.
    """
    n = len(links)
    usual = {
        "linkMasses": [1] * n,
        "linkVisualShapeIndices": [-1] * n,
        "linkPositions": [[1, 0, 0]] * n,
        "linkOrientations": [[0, 0, 0, 1]] * n,
        "linkInertialFramePositions": [[0, 0, 0]] * n,
        "linkInertialFrameOrientations": [[0, 0, 0, 1]] * n,
        "linkParentIndices": range(n),
        "linkJointTypes": [p.JOINT_REVOLUTE] * n,
        "linkJointAxis": [[0, 0, 1]] * n,
    }
    if rng is not None:
        usual["linkPositions"] = (0.5 * rng.normal(size=(n, 3))).tolist()
        usual["linkInertialFramePositions"] = (0.2 * rng.normal(size=(n, 3))).tolist()
        for frames in ("linkOrientations", "linkInertialFrameOrientations"):
            usual[frames] = [quaternion(rng) for _ in range(n)]
    client = {"physicsClientId": c} if api is p else {}
    return api.createMultiBody(mass, base, linkCollisionShapeIndices=links, **(usual | given | client))


SIZES = [
    (p.GEOM_SPHERE, {"radius": 0.3}),
    (p.GEOM_BOX, {"halfExtents": [0.1, 0.2, 0.3]}),
    (p.GEOM_CAPSULE, {"radius": 0.1, "height": 0.5}),
    (p.GEOM_CYLINDER, {"radius": 0.15, "height": 0.5}),
]


def shape(c, kind, rng=None):
    """Make one of the four shapes, with a random collision frame if `rng` is given."""
    code, sizes = SIZES[kind]
    frame = {}
    if rng is not None:
        frame = {
            "collisionFramePosition": (0.3 * rng.normal(size=3)).tolist(),
            "collisionFrameOrientation": quaternion(rng),
        }
    return p.createCollisionShape(code, **sizes, **frame, physicsClientId=c)


def body(c, kind, position, rng=None, mass=0.0, inertial=False):
    """Make a body of one shape; `rng` turns it, `inertial` moves its centre of mass."""
    frames = {}
    if rng is not None:
        frames["baseOrientation"] = quaternion(rng)
    if inertial:
        frames["baseInertialFramePosition"] = (0.2 * rng.normal(size=3)).tolist()
        frames["baseInertialFrameOrientation"] = quaternion(rng)
    return p.createMultiBody(mass, shape(c, kind, rng), basePosition=list(position), **frames, physicsClientId=c)


GRAZE = [-3.0, 0.0, 0.5004], [3.0, 0.0, 0.4999]
"""Misses a ball of radius 0.5 at 0 by 0.15 mm; PyBullet reports a hit after it has computed the ball's box."""
THROUGH = [-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]


def ball(client, x=0.0):
    """Make a static ball of radius 0.5 in a `BulletClient`."""
    return client.createMultiBody(0, client.createCollisionShape(p.GEOM_SPHERE, radius=0.5), basePosition=[x, 0, 0])


def person(c, position=(0, 0, 0), scale=0.25, **given):
    """Load PyBullet's humanoid, whose spheres and capsules become limbs; `given` goes to `loadURDF`."""
    flags = p.URDF_USE_IMPLICIT_CYLINDER
    return p.loadURDF("humanoid/humanoid.urdf", position, globalScaling=scale, flags=flags, physicsClientId=c, **given)


def geometry(c, rng):
    """Make 40 bodies of all shapes, static or not, with and without frames, and an oblique plane."""
    for i in range(40):
        turned = rng if i % 3 else None
        body(c, i % 4, rng.uniform(-1.5, 1.5, 3), turned, mass=float(i // 4 % 2), inertial=bool(i % 3 == 1))
    plane = p.createCollisionShape(p.GEOM_PLANE, planeNormal=[0, 0.6, 0.8], physicsClientId=c)
    p.createMultiBody(0, plane, basePosition=[0, 0, -2.0], baseOrientation=quaternion(rng), physicsClientId=c)


def compound(c, rng, api=p):
    """Make a shape of all four, in random frames."""
    return api.createCollisionShapeArray(
        shapeTypes=[code for code, _ in SIZES],
        radii=[0.2, 0, 0.1, 0.1],
        lengths=[0, 0, 0.4, 0.3],
        halfExtents=[[0.1, 0.2, 0.1]] * 4,
        collisionFramePositions=(0.5 * rng.normal(size=(4, 3))).tolist(),
        collisionFrameOrientations=[quaternion(rng) for _ in range(4)],
        **({"physicsClientId": c} if api is p else {}),
    )


def compounds(c, rng):
    """Make bodies of several shapes, and chains of links with inertial frames and bent joints."""
    for i in range(6):
        place = rng.uniform(-1.5, 1.5, 3).tolist()
        p.createMultiBody(1, compound(c, rng), basePosition=place, physicsClientId=c)
        chain = linked(
            c, float(i % 2), shape(c, i % 4), [shape(c, k, rng) for k in (3, 2, 1)], rng,
            basePosition=rng.uniform(-1.5, 1.5, 3).tolist(),
            baseInertialFramePosition=[0.1, 0.2, -0.1],
            baseInertialFrameOrientation=quaternion(rng),
            linkParentIndices=[0, 1, 1],
            linkJointTypes=[p.JOINT_REVOLUTE, p.JOINT_PRISMATIC, p.JOINT_FIXED],
            linkJointAxis=[[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        )  # fmt: skip
        for joint in (0, 1):
            p.resetJointState(chain, joint, rng.normal() * 0.5, physicsClientId=c)


TURNED = """<robot name="turned">
<link name="a"><inertial><origin xyz=".1 .2 .3" rpy=".3 .4 .5"/><mass value="1"/>
  <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz=".3 .1 .2" rpy="1 2 3"/><geometry><box size="1 2 3"/></geometry></collision>
  <collision><geometry><sphere radius="0.3"/></geometry></collision></link>
<link name="b"><inertial><origin xyz="-.1 .2 -.3" rpy="1.3 .4 -.5"/><mass value="1"/>
  <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz=".3 .1 .2" rpy="1 -2 3"/><geometry><cylinder length="1" radius=".2"/></geometry></collision>
</link>
<link name="c"><inertial><origin xyz="-.3 .1 .2" rpy="-.3 1.4 .6"/><mass value="1"/>
  <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 .1 .2" rpy="0 1 2"/><geometry><capsule length="1" radius=".2"/></geometry></collision>
</link>
<joint name="j" type="revolute"><origin xyz="1 2 3" rpy=".7 .8 -.9"/><parent link="a"/><child link="b"/>
  <axis xyz="0 .6 .8"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="k" type="spherical"><origin xyz="1 -2 3" rpy=".7 -.8 -.9"/><parent link="b"/><child link="c"/>
  <axis xyz="1 0 0"/></joint></robot>
"""
"""Inertial frames and joints that are rotated relative to their links."""


def rays(rng, n, span, centre=(0.0, 0.0, 0.0)):
    """Rays from a sphere around the scene through a point in it, and the same length beyond."""
    way = rng.normal(size=(n, 3))
    start = centre + 3 * span * way / np.linalg.norm(way, axis=1)[:, None]
    target = centre + rng.uniform(-span, span, size=(n, 3))
    return start, start + 2 * (target - start)


def aimed_rays(c, rng, n):
    """Rays from all directions through points in the bounding boxes of all links smaller than 20 m."""
    bodies = [p.getBodyUniqueId(i, c) for i in range(p.getNumBodies(c))]
    boxes = np.array([p.getAABB(body, link, c) for body in bodies for link in range(-1, p.getNumJoints(body, c))])
    boxes = boxes[(np.ptp(boxes, axis=1).max(axis=1) < 20.0) & (np.ptp(boxes, axis=1).max(axis=1) > 0.0)]
    chosen = boxes[rng.integers(len(boxes), size=n)]
    target = chosen[:, 0] + rng.random((n, 3)) * (chosen[:, 1] - chosen[:, 0])
    way = rng.normal(size=(n, 3))
    reach = 1.5 * max(np.ptp(boxes.reshape(-1, 3), axis=0).max(), 0.1)
    start = target + reach * way / np.linalg.norm(way, axis=1)[:, None]
    return start, start + 2.0 * (target - start)
