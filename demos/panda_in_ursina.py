"""A panda in Ursina, which is Panda3D: a click shoots, and the joint that is hit is named.

Run: python demos/panda_in_ursina.py   (needs pip install '.[panda3d]' ursina)
"""

import sys

from direct.actor.Actor import Actor
from ursina import Entity, Ursina, camera, scene

import cylcollide as cc
from cylcollide.panda3d import Actors, mouse_segment, rig_of

app = Ursina(window_type=sys.argv[1] if len(sys.argv) > 1 else "onscreen")  # or offscreen
panda = Actor("models/panda-model")
panda.setPosHprScale((0, -2, 0), (180, 90, 0), 0.005)  # its z is up, y is in Ursina
panda.setTwoSided(True)  # its triangles wind the other way round in a left-handed frame
panda.reparentTo(scene)
camera.z = -15

world = cc.HitWorld()
actors = Actors(world)
actors.add(panda, rig_of(panda, coverage=0.9))


def shoot(at: tuple[float, float] | None = None) -> None:
    """Print the joint under the mouse, or at a place of the window, from -1 to 1."""
    hits = world.cast_segments(*mouse_segment(app, at))
    print(actors.joint(hits.character[0], hits.rig_limb[0]) if hits.hit[0] else "missed")


def update() -> None:
    """Pose the limbs; Ursina calls this once a frame."""
    actors.update()


def input(key: str) -> None:  # a name of Ursina's
    """Shoot; Ursina calls this for each key."""
    if key == "left mouse down":
        shoot()


Entity(update=update, input=input)
if __name__ == "__main__":
    app.run()
