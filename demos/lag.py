"""Lag compensation: one peeks round a corner, another shoots at it, the server judges in the world of that time."""

import argparse

import numpy as np

import cylcollide as cc
from cylcollide.limbs.figures import add_polygons
from cylcollide.limbs.outlines import COLORS, LINE, hull, surface_points

RATE, BUFFER = 60, 0.100  # ticks a second; how far behind the newest state the client draws, in seconds
WALL_ENDS, WALL_AT = 4.0, 1.0  # x and y of the corner: a wall goes from there to the left
MUZZLE = np.array([4.2, -7.7, 1.45])
FIRED = 0.62
rng, rig, world = np.random.default_rng(3), cc.Rig.humanoid(), cc.HitWorld()
shooter, peeker, passer = ids = world.spawn(rig, 3)
history = cc.PoseHistory(world, ticks=64)


def step(now: float) -> None:
    """One stands, one runs out from behind the corner and back again, one walks past in the background."""
    out = np.interp(now, [0.0, 0.35, 0.5, 0.85], [-0.9, 0.6, 0.6, -0.9])
    place = np.array([[4.2, -8.0], [WALL_ENDS + out, 3.0], [5.6 - 0.5 * now, 7.0]])
    turn = cc.quaternions.from_axis_angle([0, 0, 1], np.array([0.5, -0.5, 1.0]) * np.pi)
    joints = np.tile(rig.rest_orientations, (3, 1, 1))
    for bone, sense in (("left_thigh", 1), ("right_thigh", -1), ("left_upper_arm", -1), ("right_upper_arm", 1)):
        angle = sense * np.array([0.0, 0.7, 0.5]) * np.sin(11.0 * now)
        joints[:, rig.bone_names.index(bone)] = cc.quaternions.from_axis_angle([0, 1, 0], angle)
    hips = np.full(3, rig.rest_positions[0, 2])
    world.set_poses(ids, *rig.forward(np.column_stack([place, hips]), turn, joints))
    history.record(now)


def seen_by_shooter(points: np.ndarray) -> np.ndarray:
    """Degrees to the right and upwards, of points (n, 3)."""
    x, depth, z = (points - MUZZLE).T
    return np.degrees(np.arctan2([x, z], depth)).T


def panel(axes, title: str, limbs: cc.Limbs, cross: np.ndarray, live: cc.Limbs | None = None) -> None:
    """Draw the view from the muzzle: limbs filled, those of `live` dashed, the wall before them, and the aim."""
    for these, dashed in ((limbs, False), (live, True)):
        rows = [] if these is None else sorted(np.flatnonzero(these.p1[:, 1] > WALL_AT), key=lambda i: -these.p1[i, 1])
        flat = [hull(seen_by_shooter(surface_points(these, i))) for i in rows]
        colors = ["none" if dashed else COLORS[these.hit_group[i]] for i in rows]
        style = {"linestyle": "--", "linewidth": 1.0} if dashed else {"linewidth": 0.6}
        add_polygons(axes, flat, facecolors=colors, edgecolors=LINE, alpha=0.8, **style)
    left, right = seen_by_shooter(np.array([[WALL_ENDS - 3.0, WALL_AT, 0.0], [WALL_ENDS, WALL_AT, 2.2]]))
    axes.fill_between([left[0], right[0]], left[1], right[1], color="#b0aaa0", alpha=1.0 if live is None else 0.4)
    axes.plot(*seen_by_shooter(cross[None])[0], marker="+", markersize=16, markeredgewidth=2, color="black")
    axes.set(aspect="equal", xlim=(-5, 6.5), ylim=(-8.5, 4), xlabel="degrees to the right", title=title)


def main(picture: str | None, ping: float) -> None:
    clock, way = cc.ViewClock(BUFFER, 1 / RATE), lambda: ping / 2 + rng.uniform(0.0, 0.02)  # with jitter
    for sent in FIRED + np.arange(-30, 0) / RATE:  # messages before the shot name the newest state of their sender
        clock.acknowledge(sent + way(), np.floor((sent - way()) * RATE) / RATE)
    newest, arrives = FIRED - way(), FIRED + way()
    for tick in range(int(arrives * RATE) + 1):
        step(tick / RATE)
    now, seen = float(history.times[-1]), newest - BUFFER
    on_screen = history.limbs_at(seen)
    head = np.flatnonzero((on_screen.character == peeker) & (on_screen.hit_group == rig.groups["head"]))[0]
    aim = 0.5 * (on_screen.p1 + on_screen.p2)[head] + [0.03, 0.0, 0.02]
    shot, own = (MUZZLE, MUZZLE + 2.0 * (aim - MUZZLE)), {"ignore_character": int(shooter)}

    clock.acknowledge(arrives, np.floor(newest * RATE) / RATE)
    estimate, bound = clock.estimate(arrives)
    times, reasons = cc.RewindLimits(most_back=0.6).admit(seen, estimate, now, bound=bound)
    policy = cc.Policy.first_surface(damage={"head": 4.0, "default": 1.0})
    live = world.judge_segments(*shot, policy, energy=25.0, **own)
    judged = history.judge_segments(*shot, policy, times, energy=25.0, **own)
    mark = judged.present_position()[0]
    print(f"fired at {FIRED:.3f} s at what was drawn of {seen:.3f} s; arrived at {arrives:.3f} s, in tick {now:.3f}")
    print(f"in the server's world of now it hits {live.limb_name[0] or 'nothing'}: damage {live.damage[0]:.0f}")
    print(f"the server's estimate is {estimate:.3f} s, within {bound:.3f}")
    print(f"judged at {judged.time[0]:.3f} s, as {cc.Admission(reasons[0]).name.lower()}, it hits "
          f"{judged.limb_name[0]!r}: damage {judged.damage[0]:.0f}; that is at {mark.round(2)} now")  # fmt: skip
    print("without lag compensation:", history.explain_miss(*shot, now, hit_group="head", **own))
    if picture:
        from matplotlib.figure import Figure  # noqa: PLC0415  # drawn on demand

        figure, then = Figure(figsize=(13, 5.5), layout="constrained"), history.limbs_at(float(times[0]))
        one, two, three = figure.subplots(1, 3, sharey=True)
        panel(one, f"as the shooter saw it: {seen:.3f} s", on_screen, aim)
        panel(two, f"when the shot arrives: {now:.3f} s", world.limbs, aim)
        panel(three, f"as it was judged: {times[0]:.3f} s; dashed: now", then, judged.position[0], world.limbs)
        ends = [seen_by_shooter(place[None])[0] for place in (mark, judged.position[0])]
        three.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "#d1495b", "linewidth": 2})
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", help="a file for it; needs matplotlib: pip install '.[plot]'")
    parser.add_argument("ping", nargs="?", type=float, default=0.12, help="in seconds")
    main(**vars(parser.parse_args()))
