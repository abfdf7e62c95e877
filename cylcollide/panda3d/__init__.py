"""Panda3D's actors as characters of a world: rigs, poses in each frame, mouse rays and debug lines."""

from cylcollide.panda3d.actors import Actors
from cylcollide.panda3d.scene import mouse_segment, wireframe
from cylcollide.panda3d.skin import rig_of
from cylcollide.process.signatures import shown_short

__all__ = ["Actors", "mouse_segment", "rig_of", "wireframe"]

for _thing in (Actors, mouse_segment, rig_of, wireframe):
    shown_short(_thing)
