"""A range in Panda3D that one can play: walk, shoot pandas, see limb and damage, shoot at what was there before.

Run: python demos/panda.py   (needs Panda3D: pip install '.[panda3d]')
W, A, S, D walk; the left and right arrow turn; a click shoots; R judges shots half a second in the past, drawn in blue;
L shows limbs. With the name of a picture as its argument it plays by itself, without a window, and saves that.
"""

import sys
from math import cos, sin

import numpy as np
from direct.actor.Actor import Actor
from direct.gui.OnscreenText import OnscreenText
from direct.showbase.ShowBase import ShowBase
from panda3d.core import ClockObject, LineSegs, LPoint2, LPoint3, NodePath, TextNode, loadPrcFileData

import cylcollide as cc
from cylcollide.panda3d import Actors, mouse_segment, rig_of, wireframe

PANDAS, SCALE, RATE, PAST = 6, 0.005, 60, 0.5  # per second; seconds
GROUPS = {"head": 1, "torso": 2, "leg": 3}
PARTS = {"skull": "head", "jaw": "head", "neck": "head", "leg": "leg", "foot": "leg", "arm": "leg", "hand": "leg"}
POLICY = cc.Policy.first_surface(damage={"head": 40.0, "torso": 15.0, "leg": 8.0, "default": 10.0})
CLOCK = ClockObject.getGlobalClock()
LIVE, BEFORE, SHOT = (1.0, 0.35, 0.25, 1.0), (0.3, 0.6, 1.0, 1.0), (1.0, 0.9, 0.2, 1.0)


class Range(ShowBase):
    """The scene, its characters, what was of them, and the one who shoots."""

    def __init__(self) -> None:
        super().__init__()
        self.disableMouse()
        self.world = cc.HitWorld()
        self.history = cc.PoseHistory(self.world, ticks=RATE)
        self.actors = Actors(self.world)
        ground = self.loader.loadModel("models/environment")
        ground.reparentTo(self.render)
        ground.setScale(0.25)
        ground.setPos(-8, 42, 0)
        self.pandas = [Actor("models/panda-model", {"walk": "models/panda-walk4"}) for _ in range(PANDAS)]
        for k, panda in enumerate(self.pandas):
            panda.reparentTo(self.render)
            panda.setScale(SCALE)
            panda.loop("walk")
            panda.setPlayRate(0.8 + 0.1 * k, "walk")
        bones = [joint.getName() for joint in self.pandas[0].getJoints()]
        groups = {bone: next((g for part, g in PARTS.items() if part in bone.lower()), "torso") for bone in bones}
        rig = rig_of(self.pandas[0], coverage=0.9, groups=GROUPS, bone_groups=groups)
        self.ids = [self.actors.add(panda, rig) for panda in self.pandas]
        self.place, self.turn, self.now = np.array([0.0, -14.0, 2.6]), 0.0, 0.0
        self.in_past, self.shows_limbs = False, True
        self.health = dict.fromkeys(self.ids, 100.0)
        self.text = OnscreenText(
            "", pos=(-1.27, 0.88), scale=0.06, align=TextNode.ALeft, fg=(1, 1, 1, 1), mayChange=True
        )
        self.text.setShadow((0, 0, 0, 1))
        OnscreenText("+", pos=(0, -0.02), scale=0.09, fg=(1, 1, 1, 1))
        self.lines, self.shot = NodePath("limbs"), NodePath("shot")
        self.keys: set[str] = set()
        for key in ("w", "a", "s", "d", "arrow_left", "arrow_right"):
            self.accept(key, self.keys.add, [key])
            self.accept(f"{key}-up", self.keys.discard, [key])
        self.accept("r", lambda: setattr(self, "in_past", not self.in_past))
        self.accept("l", lambda: setattr(self, "shows_limbs", not self.shows_limbs))
        self.accept("mouse1", self.shoot)
        self.accept("escape", sys.exit)
        self.taskMgr.add(self.step, "step")

    def step(self, task):
        """One tick: pandas walk in circles, the player where the keys say."""
        passed = CLOCK.getDt()
        self.now += passed
        for k, panda in enumerate(self.pandas):
            angle = 0.25 * self.now * (1 + 0.1 * k) + 2 * np.pi * k / PANDAS
            panda.setPos(6 * cos(angle), 6 * sin(angle), 0)
            panda.setH(np.degrees(angle) + 180)
        self.turn += 70 * passed * (("arrow_left" in self.keys) - ("arrow_right" in self.keys))
        ahead = np.array([-sin(np.radians(self.turn)), cos(np.radians(self.turn)), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        steps = ("w" in self.keys) - ("s" in self.keys), ("d" in self.keys) - ("a" in self.keys)
        self.place += 6 * passed * (steps[0] * ahead + steps[1] * right)
        self.camera.setPosHpr(*self.place, self.turn, -6, 0)
        self.actors.update()
        self.history.record(self.now)
        self.draw_limbs()
        return task.cont

    def past(self) -> float:
        """The time at which shots are judged."""
        return max(float(self.history.times[0]), self.now - PAST)

    def draw_limbs(self) -> None:
        """The limbs of now; those of the past, too, if shots are judged there."""
        self.lines.removeNode()
        self.lines = self.render.attachNewNode("limbs")
        if self.shows_limbs:
            wireframe(self.world.limbs, LIVE).reparentTo(self.lines)
        if self.in_past:
            wireframe(self.history.limbs_at(self.past()), BEFORE).reparentTo(self.lines)

    def shoot(self, at: tuple[float, float] | None = None) -> None:
        """Judge the ray under the mouse, now or in the past, and say what it hits."""
        segment = mouse_segment(self, at)
        if segment is None:
            return
        if self.in_past:
            judged = self.history.judge_segments(*segment, POLICY, self.past())
        else:
            judged = self.world.judge_segments(*segment, POLICY)
        self.draw_shot(*segment, judged)
        if not judged.hit[0]:
            self.text.setText("Miss")
            return
        victim, damage = int(judged.character[0]), float(judged.damage[0])
        self.health[victim] -= damage
        joint = self.actors.joint(victim, int(judged.rig_limb[0]))
        when = f"{PAST} s ago" if self.in_past else "now"
        self.text.setText(
            f"Panda {victim}, {joint} ({when})\n{damage:.0f} damage at {judged.distance[0]:.1f} m\n"
            f"health {max(0.0, self.health[victim]):.0f}"
        )

    def draw_shot(self, start: np.ndarray, end: np.ndarray, judged: cc.Judged) -> None:
        """A line from the side of the camera to where the shot ended, and a cross there."""
        to = judged.position[0] if judged.hit[0] else end
        pen = LineSegs("shot")
        pen.setColor(*SHOT)
        pen.setThickness(3)
        pen.moveTo(*(start + np.array([0.2, 0.0, -0.3])))
        pen.drawTo(*to)
        for arm in 0.15 * np.eye(3):
            pen.moveTo(*(to - arm))
            pen.drawTo(*(to + arm))
        self.shot.removeNode()
        self.shot = self.render.attachNewNode(pen.create())

    def window_place(self, point: np.ndarray) -> tuple[float, float] | None:
        """Where a point of the scene is in the window; None if the camera does not see it."""
        at = LPoint2()
        seen = self.camLens.project(self.cam.getRelativePoint(self.render, LPoint3(*point)), at)
        return tuple(at) if seen else None


def picture(path: str) -> None:
    """Two seconds without a window, a shot at the middle of a panda half a second ago, and a picture of it."""
    game = Range()
    CLOCK.setMode(ClockObject.MNonRealTime)
    CLOCK.setDt(1 / RATE)
    for _ in range(2 * RATE):
        game.taskMgr.step()
    game.in_past = True
    game.taskMgr.step()
    then = game.history.limbs_at(game.past())
    heads = np.flatnonzero(then.hit_group == GROUPS["head"])
    seen = [game.window_place(0.5 * (then.p1 + then.p2)[limb]) for limb in heads]
    game.shoot(min((at for at in seen if at is not None), key=lambda at: abs(at[0]) + abs(at[1])))
    game.taskMgr.step()
    game.win.saveScreenshot(path)
    print(game.text.getText())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        loadPrcFileData(
            "", "window-type offscreen\nload-display p3tinydisplay\naudio-library-name null\nwin-size 1000 640"
        )
        picture(sys.argv[1])
    else:
        Range().run()
