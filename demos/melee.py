"""A sword swung at a past position, a grenade among walls, and a trap: which limbs does each of them hit?"""

import argparse

import numpy as np

import cylcollide as cc
from cylcollide.limbs.pictures import GAP, HIT, NOW, TARGET, axis_views, draw_limbs, draw_walls, pale, window

RATE, LAG = 60, 0.15  # ticks a second; how late the knight sees all others, in seconds
BLADE, BOMB, REACH = 0.9, np.array([10.0, 0.0, 1.2]), 3.2  # in metres
WIRE = np.array([[19.5, -2.0, 0.3], [19.5, 2.0, 0.3]])
SPIKES = [20.0, 0.0, 0.2], [0, 0, 0, 1], [0.8, 2.0, 0.2]  # centre, orientation, half extents
KNIGHT, PEOPLE, WALLS = 0, 1, 2  # the first of eight characters; layers
rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids, own = world.spawn(rig, 8), len(rig.limbs)
walls = cc.Limbs.boxes([[11, 1.2, 0.65], [8.6, -0.9, 1.25]], [0, 0, 0, 1], [[0.1, 1, 0.65], [0.1, 1, 1.25]])
world.add_static(walls, mask=WALLS)
history = cc.PoseHistory(world, ticks=64)


def step(now: float) -> None:
    """The knight turns with its arm out, the victim steps back, four stand, one walks, and one jumps."""
    x = np.array([0.0, 1.35 + 4.0 * max(now - 0.35, 0.0), 10.8, 12.2, 7.3, 6.8, 18.4 + 2.6 * now, 19.3 + 2.6 * now])
    z = rig.rest_positions[0, 2] + (np.arange(8) == 7) * max(0.75 - 0.4 * (x[7] - 20.0) ** 2, 0.0)
    facing = np.array([np.interp(now, [0.5, 0.7], [1.3, -1.3]), np.pi, 2.0, np.pi, 0.3, -0.6, 0.0, 0.0])
    joints = np.tile(rig.rest_orientations, (8, 1, 1))
    for bone, sense in (("left_thigh", 1), ("right_thigh", -1), ("left_upper_arm", -1), ("right_upper_arm", 1)):
        angle = sense * np.array([0.5, 0.4, 0.1, 0.0, 0.2, 0.1, 0.5, 0.8]) * np.cos(4.0 * now + 1.2)
        angle[KNIGHT] = -1.4 if bone == "right_upper_arm" else angle[KNIGHT]
        joints[:, rig.bone_names.index(bone)] = cc.quaternions.from_axis_angle([0, 1, 0], angle)
    turn = cc.quaternions.from_axis_angle([0, 0, 1], facing)
    world.set_poses(ids, *rig.forward(np.column_stack([x, [0, 0, -1.9, 1.2, -1.1, 2.2, 1, -1], z]), turn, joints))
    history.record(now)


def panel(axes, view, title: str, limbs: cc.Limbs, hit: np.ndarray, corners: list) -> None:
    """Draw limbs from one side, in a window around two corners; limbs that are hit are green."""
    window(axes, view._replace(title=title), np.array(corners))
    colors = [pale(HIT) if i in hit else TARGET for i in range(8 * own)]
    draw_walls(axes, view, limbs, range(len(colors), len(limbs)))
    draw_limbs(axes, view, limbs, range(len(colors)), colors)


def main(picture: str | None) -> None:
    wire = []
    for now in np.arange(45) / RATE:
        step(now)
        if len(wire) == 0 and len(wire := world.overlap_capsules(*WIRE, 0.005, mask=PEOPLE)):  # at every tick
            sprung, spiked = now, world.overlap_boxes(*SPIKES, mask=PEOPLE)
    print(f"trap: at {sprung:.3f} s the {wire.limb_name[0]} of {wire.character[0]} touches the wire; in the spikes are")
    print(f"  {', '.join(f'{name} of {who}' for name, who in zip(spiked.limb_name, spiked.character, strict=True))}")
    near = world.points_within(BOMB, REACH, mask=PEOPLE)
    seen, damage = ~world.occluded_segments(BOMB, near.position, ignore_character=near.character), np.zeros(8)
    np.maximum.at(damage, near.character[seen], 100.0 * (1.0 - near.distance[seen].clip(0.0) / REACH))
    for who in (reached := np.unique(near.character)):
        print(f"grenade: it sees {np.sum(seen & (near.character == who))} limbs of {who}: damage {damage[who]:.0f}")
    # the blade extends the hand and is 3 cm thick; its ends move straight from tick to tick
    times, hand = np.arange(30, 43) / RATE, rig.limb_names.index("right_hand")
    arm = np.array([[limbs.p1[hand], limbs.p2[hand]] for limbs in map(history.limbs_at, times)])
    hilt, way = arm[:, 1], arm[:, 1] - arm[:, 0]
    tip = hilt + BLADE * way / np.linalg.norm(way, axis=1)[:, None]
    strokes, when = (hilt[:-1], tip[:-1], hilt[1:], tip[1:], 0.015), np.stack([times[:-1], times[1:]])
    live, late = (history.sweep_capsules(*strokes, *(when - lag), ignore_character=KNIGHT) for lag in (0.0, LAG))
    k = int(late.hit.argmax())
    print(f"sword: where the server has everybody it hits {live.limb_name[live.hit.argmax()] or 'nobody'}")
    print(f"  where the knight saw them {LAG} s late, stroke {k} hits the {late.limb_name[k]} of {late.character[k]}")
    if picture:
        from matplotlib.figure import Figure  # noqa: PLC0415  # drawn on demand

        figure, (_, side, above) = Figure(figsize=(15, 5.3), layout="constrained"), axis_views(2, "m")
        sword, grenade, trap = figure.subplots(1, 3)
        then, now = (history.limbs_at(float(late.time[k]) + lag) for lag in (0.0, LAG))
        both = cc.Limbs.concat([now[:own], then[own:]])  # the knight sees itself without delay
        corners = [[-0.4, -0.85, 0], [2.5, 2.05, 0]]
        panel(sword, above, "sword: as the knight saw it; dashed: the victim by then", both, late.limb[[k]], corners)
        draw_limbs(sword, above, now, range(own, 2 * own), ["none"] * own, edgecolors=NOW, linestyles="--")
        for stroke in np.stack([hilt[:-1], tip[:-1], tip[1:], hilt[1:]], axis=2)[: k + 1]:
            sword.fill(*stroke[:2], color=GAP, alpha=0.15)
        sword.plot(*late.position[k, :2], "o", color=HIT, markeredgecolor="white")
        title, corners = "grenade: limbs in its sight, and the damage", [[6.4, -3.6, 0], [13.6, 3.6, 0]]
        panel(grenade, above, title, world.limbs, near.limb[seen], corners)
        for place, sees in zip(near.position, seen, strict=True):
            grenade.plot(*np.array([BOMB, place])[:, :2].T, color=HIT if sees else GAP, linewidth=0.6)
        for who in reached:
            place = 1.25 * near.position[near.character == who].mean(axis=0) - 0.25 * BOMB
            grenade.text(*place[:2], f"{who}: {damage[who]:.0f}", ha="center", va="center")
        now, corners = history.limbs_at(sprung), [[18.4, 0, -0.1], [21.1, 0, 2.6]]
        panel(trap, side, f"trap at {sprung:.3f} s: the wire, and what is in the spikes", now, spiked.limb, corners)
        parts = cc.Limbs.concat([cc.Limbs.boxes(*SPIKES), cc.Limbs.capsules(*WIRE, 0.02)])
        draw_limbs(trap, side, parts, [0, 1], [GAP, "black"], alpha=0.4)
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", help="a file for it; needs matplotlib: pip install '.[plot]'")
    main(**vars(parser.parse_args()))
