"""A game server's frame: 64 players walk and turn, 200 shots are judged by a policy; sixty times a second.

Run: python demos/server.py [seconds]   (needs nothing but cylcollide)
The clock is honest: a frame begins when it is due, late frames are counted, and nothing is left out of its time.
"""

import sys
import time

import numpy as np

import cylcollide as cc

PLAYERS, SHOTS, RATE, FIELD = 64, 200, 60.0, 25.0  # metres
TEAMS = (1, 2)  # layers: a team's shots are tested against the other one's

policy = cc.Policy.most_important(
    order=["head", "torso", "arm", "leg"], damage={"head": 4.0, "torso": 1.0, "arm": 0.6, "leg": 0.75}
)
rng = np.random.default_rng(7)
rig = cc.Rig.humanoid(height=1.8)
hips = rig.rest_positions[rig.bone_names.index("pelvis"), 2]
swinging = [(rig.bone_names.index(f"{side}_{limb}"), sign * reach) for side, sign in (("left", 1), ("right", -1))
            for limb, reach in (("thigh", 0.5), ("upper_arm", -0.6))]  # fmt: skip

world = cc.HitWorld()
ids = world.spawn(rig, PLAYERS)
team = np.arange(PLAYERS) % 2
world.set_layers(ids, np.array(TEAMS)[team])
place, heading = rng.uniform(-FIELD, FIELD, (PLAYERS, 2)), rng.uniform(0, 2 * np.pi, PLAYERS)
health = np.full(PLAYERS, 100.0)


def about(axis: str, angle: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) of turns about an axis."""
    turn = np.zeros((len(angle), 4))
    turn[:, "xyz".index(axis)], turn[:, 3] = np.sin(angle / 2), np.cos(angle / 2)
    return turn


def walk(now: float) -> None:
    """Everybody takes a step, and turns back at the border."""
    heading[:] += 0.02 * rng.normal(size=PLAYERS) + 0.2 * (np.abs(place).max(axis=1) > FIELD)
    place[:] += 1.6 / RATE * np.column_stack([np.cos(heading), np.sin(heading)])
    joints = np.tile(rig.rest_orientations, (PLAYERS, 1, 1))
    for bone, reach in swinging:
        joints[:, bone] = about("y", reach * np.sin(6.0 * now + heading))
    root = np.column_stack([place, np.full(PLAYERS, hips)])
    world.set_poses(ids, *rig.forward(root, about("z", heading), joints))


def shoot() -> cc.Judged:
    """Shots from the shoulder of some at somebody of the other team, none of them quite aimed."""
    by = rng.integers(PLAYERS, size=SHOTS)
    at = (rng.integers(PLAYERS // 2, size=SHOTS) * 2 + 1 - team[by]) % PLAYERS
    muzzle = np.column_stack([place[by], np.full(SHOTS, 1.5)])
    aim = np.column_stack([place[at], np.full(SHOTS, 1.2)]) + 0.25 * rng.normal(size=(SHOTS, 3))
    enemies = np.array(TEAMS)[1 - team[by]]
    return world.judge_rays(muzzle, aim - muzzle, policy, max_distance=80.0, energy=30.0, mask=enemies)


def frame(now: float) -> int:
    """One frame of the server; how many shots hit. Who is shot dead comes back elsewhere."""
    walk(now)
    judged = shoot()
    victims = judged.character[judged.hit]
    np.subtract.at(health, victims - ids[0], judged.damage[judged.hit])
    dead = np.flatnonzero(health <= 0.0)
    place[dead], health[dead] = rng.uniform(-FIELD, FIELD, (len(dead), 2)), 100.0
    return len(victims)


def main(seconds: float) -> None:
    took, late, hits = [], 0, 0
    frame(0.0)
    begun = time.perf_counter()
    for k in range(int(seconds * RATE)):
        time.sleep(max(0.0, begun + k / RATE - time.perf_counter()))
        due = time.perf_counter()
        hits += frame(k / RATE)
        took.append(time.perf_counter() - due)
        late += time.perf_counter() > begun + (k + 1) / RATE
    half, most = (1e3 * float(np.percentile(took, q)) for q in (50, 99))
    print(f"{len(took)} frames, one every {1e3 / RATE:.1f} ms; {late} late")
    print(f"a frame takes {half:.2f} ms in the middle, {most:.2f} ms at 99 %")
    print(f"{PLAYERS} players of {len(rig.limbs)} limbs, {SHOTS} shots a frame, {hits / len(took):.0f} of them hit")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
