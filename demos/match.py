"""A match over UDP: 64 bots (demos/bots.py), walls, three weapons; every shot is judged in the world that its bot saw.

Run: python demos/match.py [--seconds 10] [--log match.shots]   (needs nothing but cylcollide)
All times are those of the server's ticks.
"""

import argparse
import json
import time

import numpy as np
from bots import BOTS, BUFFER, FIELD, RATE, TO_BOT, Network

import cylcollide as cc

WALL, SHOT, SIGHT = 9, 1, 2  # a hit group; layers: what stops shots, what stops people
FACTORS = {"head": 4.0, "torso": 1.0, "default": 0.6}
WEAPONS = [
    cc.Policy.first_surface(damage=FACTORS),  # a pistol
    cc.Policy.most_important(["head", "torso"], damage=FACTORS),  # a shotgun
    cc.Policy.penetration({"wall": 60.0, "default": 20.0}, damage=FACTORS, groups={"wall": WALL}),  # a rifle
]
PELLETS, SPREAD, ENERGY = np.array([1, 8, 1]), np.array([0.01, 0.04, 0.005]), np.array([20.0, 6.0, 30.0])
FAR = 60.0


Y, Z = [0, 1, 0], [0, 0, 1]
about = cc.quaternions.from_axis_angle


class Match:
    """The server: its state, and its ticks."""

    def __init__(self, network: Network, log: str | None) -> None:
        self.network, self.rng = network, np.random.default_rng(1)
        self.rig, self.world = cc.Rig.humanoid(), cc.HitWorld()
        self.ids = self.world.spawn(self.rig, BOTS)
        self.world.set_layers(self.ids, SHOT)
        middle = np.column_stack([self.rng.uniform(-FIELD, FIELD, (24, 2)), np.full(24, 1.2)])
        turn = about(Z, self.rng.uniform(0.0, np.pi, 24))
        self.world.add_static(cc.Limbs.boxes(middle, turn, [[2.0, 0.1, 1.2]] * 24, hit_group=WALL, mask=SHOT | SIGHT))
        self.history = cc.PoseHistory(self.world, ticks=64)
        self.log = cc.ShotLog(log, self.world, self.history) if log else None
        self.clocks = [cc.ViewClock(BUFFER, 1 / RATE) for _ in range(BOTS)]
        self.limits = cc.RewindLimits(most_back=1.0)
        self.place, self.heading = self.rng.uniform(-FIELD, FIELD, (BOTS, 2)), np.zeros(BOTS)
        self.health, self.born = np.full(BOTS, 100.0), np.zeros(BOTS)
        self.claims = np.zeros((2, len(cc.Admission)), int)  # of honest bots and of the cheat, by `cc.Admission`
        self.shots = self.hits = self.deaths = 0

    def tick(self, number: int) -> None:
        """Read the messages, move all bots, judge the shots, and send the state."""
        now, (who, messages) = number / RATE, self.network.read()
        for bot, seen in zip(who, messages["tick"] / RATE, strict=True):
            self.clocks[bot].acknowledge(now, seen)
        self.heading[who] = np.where(np.isfinite(messages["heading"]), messages["heading"], 0.0)
        self.walk(now)
        fires = np.isin(messages["weapon"], range(len(WEAPONS))) & np.isfinite(messages["aim"]).all(axis=1)
        if fires.any():
            self.judge(now, who[fires], messages[fires])
        state = np.zeros((), TO_BOT)
        state["tick"], state["bots"] = number, np.column_stack([self.place, self.health])
        states = {}
        for bot in range(BOTS):
            state["you"] = bot
            states[bot] = state.tobytes()
        self.network.send(states)

    def walk(self, now: float) -> None:
        """Move each bot a step unless a wall blocks it; dead bots come back elsewhere."""
        dead = self.health <= 0.0
        self.place[dead] = self.rng.uniform(-FIELD, FIELD, (dead.sum(), 2))
        self.health[dead], self.born[dead], self.deaths = 100.0, now, self.deaths + int(dead.sum())
        ahead, chest = np.column_stack([np.cos(self.heading), np.sin(self.heading)]), np.full(BOTS, 1.3)
        starts, ends = (np.column_stack([self.place + reach * ahead, chest]) for reach in (0.0, 0.4))
        blocked = self.world.occluded_segments(starts, ends, mask=SIGHT)
        self.place += np.where(blocked[:, None], 0.0, 2.0 / RATE * ahead)
        joints = np.tile(self.rig.rest_orientations, (BOTS, 1, 1))
        for bone, reach in (("left_thigh", 0.5), ("right_thigh", -0.5), ("left_upper_arm", -0.6)):
            joints[:, self.rig.bone_names.index(bone)] = about(Y, reach * np.sin(6.0 * now + np.arange(BOTS)))
        hips = np.column_stack([self.place, np.full(BOTS, self.rig.rest_positions[0, 2])])
        self.world.set_poses(self.ids, *self.rig.forward(hips, about(Z, self.heading), joints), teleport=dead)
        self.history.record(now)

    def judge(self, now: float, who: np.ndarray, messages: np.ndarray) -> None:
        """Judge all shots of a tick at once, each at the time that its bot claims, within the limits of rewinding."""
        estimate, bound = np.array([self.clocks[bot].estimate(now) for bot in who]).T
        times, reasons = self.limits.admit(messages["view"], estimate, now, bound=bound)
        np.add.at(self.claims, ((who == 0).astype(int), reasons), 1)
        shot = np.repeat(np.arange(len(who)), PELLETS[messages["weapon"]])  # one row per pellet
        weapon, shooter = messages["weapon"][shot], who[shot]
        muzzle = np.column_stack([self.place[shooter], np.full(len(shot), 1.5)])
        way = messages["aim"][shot] - muzzle
        way += SPREAD[weapon, None] * np.linalg.norm(way, axis=1, keepdims=True) * self.rng.normal(size=way.shape)
        if self.log:
            self.log.note({"bots": who.tolist(), "claimed": messages["view"].tolist()})
        judged = self.history.judge_rays(
            muzzle, way, [WEAPONS[w] for w in weapon], times[shot], energy=ENERGY[weapon], shot=shot, mask=SHOT,
            ignore_character=self.ids[shooter], max_distance=FAR, on_old="clamp",
        )  # fmt: skip
        totals = judged.by_shot()
        self.shots, self.hits = self.shots + len(who), self.hits + np.count_nonzero(totals.hits)
        for row, character, _, damage in zip(*totals.victims, strict=True):
            victim, by = int(character - self.ids[0]), int(who[row])
            if times[row] >= self.born[victim]:  # otherwise the victim has died since then
                self.health[victim] -= damage
                event = json.dumps({"at": now, "by": by, "victim": victim, "damage": round(float(damage), 1)})
                self.network.send(dict.fromkeys((by, victim), event.encode()))


def play(seconds: float, log: str | None) -> tuple[Match, np.ndarray]:
    """The match at its end, and the processor time of each tick: of this thread, and of all; seconds."""
    with Network() as network:
        match, begun = Match(network, log), time.perf_counter()
        clocks = np.zeros((1 + int(seconds * RATE), 2))
        clocks[0] = time.thread_time(), time.process_time()
        for number in range(len(clocks) - 1):
            time.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
            match.tick(number)
            clocks[number + 1] = time.thread_time(), time.process_time()
    if match.log:
        match.log.close()
    return match, np.diff(clocks, axis=0)


def main(arguments: list[str] | None = None) -> tuple[Match, np.ndarray]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--log", help="a new file for all shots: see docs/shot_log.md")
    match, took = play(**vars(parser.parse_args(arguments)))
    for threads, column in zip(("this thread", "all threads"), 1e3 * took.T, strict=True):
        print("processor time a tick, {}: {:.2f} ms, 99 %: {:.2f} ms".format(threads, *np.percentile(column, [50, 99])))
    print(f"{match.shots} shots, {match.hits} of them hit, {match.deaths} deaths")
    for who, counts in zip(("honest bots", "the cheat"), match.claims, strict=True):
        print(f"claims of {who}:", {reason.name.lower(): int(counts[reason]) for reason in cc.Admission})
    return match, took


if __name__ == "__main__":
    main()
