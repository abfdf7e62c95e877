"""A playable range in Panda3D: walk, shoot pandas, see limb and damage, shoot at pandas of the past.

Run: python demos/panda.py   (needs Panda3D: pip install '.[panda3d]')
W, A, S, D walk, the left and right arrow turn, a click shoots; R judges shots half a second in the past, drawn in blue.
`docs/figures/panda.py` plays it without a window and makes the picture of docs/panda3d.md.
"""

import numpy as np
from direct.actor.Actor import Actor
from direct.gui.OnscreenText import OnscreenText
from direct.showbase.ShowBase import ShowBase
from panda3d.core import ClockObject, NodePath, TextNode

import cylcollide as cc
from cylcollide.panda3d import Actors, mouse_segment, rig_of, wireframe

PANDAS, RATE, PAST = 6, 60, 0.5  # per second; seconds
GROUPS = {"head": 1, "torso": 2, "leg": 3}
PARTS = dict.fromkeys(("skull", "jaw", "neck"), "head") | dict.fromkeys(("leg", "foot", "arm", "hand"), "leg")
POLICY = cc.Policy.first_surface(damage={"head": 40.0, "torso": 15.0, "leg": 8.0})
LIVE, BEFORE, SHOT = (1.0, 0.35, 0.25, 1.0), (0.3, 0.6, 1.0, 1.0), (1.0, 0.9, 0.2, 1.0)
KEYS = dict(zip(("d", "w", "arrow_left", "a", "s", "arrow_right"), [*np.eye(3), *-np.eye(3)], strict=True))
CLOCK = ClockObject.getGlobalClock()


class Range(ShowBase):
    """The scene, its characters, their history, and the player."""

    def __init__(self) -> None:
        super().__init__()
        self.disableMouse()
        ground = self.loader.loadModel("models/environment")
        ground.reparentTo(self.render)
        ground.setPosHprScale(-8, 42, 0, 0, 0, 0, 0.25, 0.25, 0.25)
        self.pandas = [Actor("models/panda-model", {"walk": "models/panda-walk4"}) for _ in range(PANDAS)]
        for panda in self.pandas:
            panda.reparentTo(self.render)
            panda.setScale(0.005)
            panda.loop("walk")
        bones = [joint.getName() for joint in self.pandas[0].getJoints()]
        groups = {bone: next((g for part, g in PARTS.items() if part in bone.lower()), "torso") for bone in bones}
        rig = rig_of(self.pandas[0], coverage=0.9, groups=GROUPS, bone_groups=groups)
        self.world = cc.HitWorld()
        self.history, self.actors = cc.PoseHistory(self.world, ticks=RATE), Actors(self.world)
        self.health = {self.actors.add(panda, rig): 100.0 for panda in self.pandas}
        self.place, self.turn, self.in_past, self.keys = np.array([0.0, -14.0, 2.6]), 0.0, False, set()
        self.text = OnscreenText(pos=(-1.3, 0.88), scale=0.06, align=TextNode.ALeft, fg=(1, 1, 1, 1), mayChange=True)
        self.lines, self.shot = NodePath("limbs"), NodePath("shot")
        for key in KEYS:
            self.accept(key, self.keys.add, [key])
            self.accept(f"{key}-up", self.keys.discard, [key])
        self.accept("r", lambda: setattr(self, "in_past", not self.in_past))
        self.accept("mouse1", lambda: (segment := mouse_segment(self)) and self.shoot(segment))
        self.taskMgr.add(self.step, "step")

    def step(self, task):
        """One tick: pandas walk in circles, the player as the keys direct."""
        for k, panda in enumerate(self.pandas):
            angle = 0.3 * CLOCK.getFrameTime() + 2 * np.pi * k / PANDAS
            panda.setPosHpr(6 * np.cos(angle), 6 * np.sin(angle), 0, np.degrees(angle) + 180, 0, 0)
        right, ahead, turn = CLOCK.getDt() * sum((KEYS[key] for key in self.keys), np.zeros(3))
        self.turn += 70 * turn
        c, s = np.cos(np.radians(self.turn)), np.sin(np.radians(self.turn))
        self.place += 6 * np.array([c * right - s * ahead, s * right + c * ahead, 0.0])
        self.camera.setPosHpr(*self.place, self.turn, -6, 0)
        self.actors.update()
        self.history.record(CLOCK.getFrameTime())
        self.time = max(float(self.history.times[0]), CLOCK.getFrameTime() - PAST)  # of shots in the past
        self.lines.removeNode()
        self.lines = wireframe(self.world.limbs, LIVE)
        self.lines.reparentTo(self.render)
        if self.in_past:
            wireframe(self.history.limbs_at(self.time), BEFORE).reparentTo(self.lines)
        return task.cont

    def shoot(self, segment) -> None:
        """Judge a segment, now or in the past, draw it, and print what it hits to the screen."""
        past = self.history.judge_segments(*segment, POLICY, self.time) if self.in_past else None
        judged = past or self.world.judge_segments(*segment, POLICY)
        stops = judged.position[0] if judged.hit[0] else segment[1]
        self.shot.removeNode()
        self.shot = wireframe(cc.Limbs.capsules(segment[0] + np.array([0.2, 0.0, -0.3]), stops, 0.01), SHOT)
        self.shot.reparentTo(self.render)
        text = f"{PAST} s ago: " if self.in_past else "now: "
        for victim, damage in zip(judged.character[judged.hit], judged.damage[judged.hit], strict=True):
            self.health[victim] = max(0.0, self.health[victim] - damage)
            text += f"panda {victim}, {judged.limb_name[0]}: {damage:.0f} damage, health {self.health[victim]:.0f}"
        self.text.setText(text)


if __name__ == "__main__":
    Range().run()
