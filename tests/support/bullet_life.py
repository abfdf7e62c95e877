"""A random life of a PyBullet client: bodies are made, removed, moved and changed by every call that affects rays.

One generator draws every step, so that its seed reproduces the life.
"""

import numpy as np
import pybullet as p
from support import pybullet_scenes as scenes

MOST = 10
"""Number of bodies at which a life stops making more."""

SPAN = 2.0
"""Half the width of the cube of body positions."""


class Life:
    """A client whose calls go through `api`: a `BulletClient`, or a wrapper of it."""

    def __init__(self, number, rng, api):
        self.number, self.rng, self.p = number, rng, api
        self.states, self.shapes = [], []
        self.filters_changed = False
        self.last = ""

    def step(self):
        """Take one random step."""
        steps = {name: weight for name, weight in STEPS.items() if weight}
        names, weights = list(steps), np.array(list(steps.values()), float)
        if len(self.bodies()) >= MOST:
            weights[[name.startswith("make") for name in names]] = 0.0
        self.last = str(self.rng.choice(names, p=weights / weights.sum()))
        step = getattr(self, self.last)
        if self.last not in OF_A_BODY:
            step()
        elif (body := self.any_body()) is not None:
            step(body)

    def bodies(self):
        """The ids of all bodies."""
        return [p.getBodyUniqueId(i, self.number) for i in range(p.getNumBodies(self.number))]

    def any_body(self):
        """The id of a random body, None without bodies."""
        bodies = self.bodies()
        return int(self.rng.choice(bodies)) if bodies else None

    def place(self):
        """A random position as a list."""
        return self.rng.uniform(-SPAN, SPAN, 3).tolist()

    def any_shape(self):
        """A shape of one of the four kinds, new or used before."""
        if self.shapes and self.rng.random() < 0.5:
            return int(self.rng.choice(self.shapes))
        code, sizes = scenes.SIZES[self.rng.integers(4)]
        self.shapes.append(self.p.createCollisionShape(code, **sizes))
        return self.shapes[-1]

    def make_single(self):
        frames = {}
        if self.rng.random() < 0.3:
            frames = {"baseInertialFramePosition": (0.2 * self.rng.normal(size=3)).tolist()}
        turn = scenes.quaternion(self.rng)
        mass = float(self.rng.integers(2))
        self.p.createMultiBody(mass, self.any_shape(), -1, self.place(), turn, **frames)

    def make_batch(self):
        self.p.createMultiBody(0, self.any_shape(), batchPositions=[self.place() for _ in range(3)])

    def make_compound(self):
        shape = scenes.compound(self.number, self.rng, self.p)
        self.p.createMultiBody(float(self.rng.integers(2)), shape, basePosition=self.place())

    def make_chain(self):
        kinds = {"linkJointTypes": [p.JOINT_REVOLUTE, p.JOINT_PRISMATIC], "linkJointAxis": [[0, 0, 1], [1, 0, 0]]}
        base, links = self.any_shape(), [self.any_shape() for _ in range(2)]
        mass, place = float(self.rng.integers(2)), self.place()
        scenes.linked(self.number, mass, base, links, self.rng, api=self.p, basePosition=place, **kinds)

    def make_mesh(self):
        scale = self.rng.uniform(0.05, 0.15, 3).tolist()
        shape = self.p.createCollisionShape(p.GEOM_MESH, fileName="duck.obj", meshScale=scale)
        self.p.createMultiBody(float(self.rng.integers(2)), shape, basePosition=self.place())

    def make_height_field(self):
        shape = self.p.createCollisionShape(
            p.GEOM_HEIGHTFIELD,
            meshScale=[0.2, 0.2, 1],
            heightfieldData=(0.2 * self.rng.random(36)).tolist(),
            numHeightfieldRows=6,
            numHeightfieldColumns=6,
        )
        self.p.createMultiBody(0, shape, basePosition=self.place())

    def make_loaded(self):
        name = str(self.rng.choice(["sphere_small.urdf", "cube_small.urdf", "plane_implicit.urdf"]))
        self.p.loadURDF(name, self.place(), useFixedBase=bool(self.rng.integers(2)))

    def make_person(self):
        flags = p.URDF_USE_IMPLICIT_CYLINDER
        self.p.loadURDF("humanoid/humanoid.urdf", self.place(), globalScaling=0.25, flags=flags)

    def remove(self, body):
        self.p.removeBody(body)
        self.states.clear()  # PyBullet refuses to restore a state with other bodies

    def reset(self):
        self.p.resetSimulation()
        self.states.clear()
        self.shapes.clear()

    def replace(self):
        """Replace a body by another one of the same shape, which gets the same id."""
        shape = self.any_shape()
        body = self.p.createMultiBody(1.0, shape, basePosition=self.place())
        self.p.setCollisionFilterGroupMask(body, -1, int(self.rng.integers(1, 8)), -1)
        self.filters_changed = True
        self.p.removeBody(body)
        assert self.p.createMultiBody(1.0, shape, basePosition=self.place()) == body

    def move(self, body):
        self.p.resetBasePositionAndOrientation(body, self.place(), scenes.quaternion(self.rng))

    def bend(self, body):
        if p.getNumJoints(body, self.number):
            self.p.resetJointState(body, 0, float(self.rng.normal()))

    def simulate(self):
        for _ in range(int(self.rng.integers(1, 4))):
            self.p.stepSimulation()

    def detect(self):
        self.p.performCollisionDetection()

    def dynamics(self, body):
        self.p.changeDynamics(body, -1, mass=float(self.rng.integers(2)))

    def margin(self, body):
        link = int(self.rng.integers(-1, p.getNumJoints(body, self.number)))
        self.p.changeDynamics(body, link, collisionMargin=float(self.rng.uniform(0, 0.002)))

    def to_and_fro(self, body):
        """Make a body fixed and movable again between two queries, which resets its filter group."""
        for mass in (0.0, 1.0):
            self.p.changeDynamics(body, -1, mass=mass)
        self.filters_changed = True

    def filters(self, body):
        link = int(self.rng.integers(-1, p.getNumJoints(body, self.number)))
        group, mask = int(self.rng.integers(0, 8)), int(self.rng.choice([-1, -1, 0, 1, 6]))
        self.p.setCollisionFilterGroupMask(body, link, group, mask)
        self.filters_changed = True

    def scale(self, body):
        self.p.unsupportedChangeScaling(body, [float(self.rng.uniform(0.7, 1.3))] * 3)

    def scale_and_remove(self):
        """Scale a shape, which other bodies may share, by a body that is removed before the next query."""
        body = self.p.createMultiBody(1.0, self.any_shape(), basePosition=self.place())
        self.p.unsupportedChangeScaling(body, [float(self.rng.uniform(0.7, 1.3))] * 3)
        self.p.removeBody(body)

    def save(self):
        self.states.append((self.p.saveState(), self.bodies()))

    def restore(self):
        if self.states:
            state, bodies = self.states.pop()
            if bodies == self.bodies():
                self.p.restoreState(state)

    def keywords(self):
        """Random filter mask and hit number of a ray test."""
        mask, number = int(self.rng.choice([-1, 1, 2, 6])), int(self.rng.choice([-1, -1, 0, 1]))
        return {"collisionFilterMask": mask, "reportHitNumber": number}

    def rays(self, count):
        """Rays (count, 3) from all directions at the bodies; a few miss."""
        starts = self.rng.normal(size=(count, 3))
        starts *= 6.0 / np.linalg.norm(starts, axis=1)[:, None]
        bodies = self.bodies()
        centres = [p.getBasePositionAndOrientation(body, self.number)[0] for body in bodies] or [[0.0, 0.0, 0.0]]
        targets = np.array(centres)[self.rng.integers(len(centres), size=count)]
        targets = targets + 0.1 * self.rng.normal(size=(count, 3))
        return starts, targets + 0.5 * (targets - starts)


STEPS = {
    **dict.fromkeys(("make_single", "make_compound", "make_chain", "make_mesh", "make_loaded"), 3),
    **dict.fromkeys(("make_batch", "make_height_field", "replace", "dynamics", "to_and_fro", "scale", "margin"), 2),
    **dict.fromkeys(("make_person", "scale_and_remove"), 2),
    **dict.fromkeys(("move", "bend", "simulate", "filters"), 5),
    **dict.fromkeys(("detect", "save", "restore"), 2),
    "remove": 6,
    "reset": 0.5,
}
"""Relative frequency of each step."""
OF_A_BODY = {"remove", "move", "bend", "dynamics", "margin", "to_and_fro", "filters", "scale"}
"""Steps that take a body; without bodies they do nothing."""
