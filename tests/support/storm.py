"""Scripts for child processes: one interrupts jobs by many signals, another one records lookups in enumerations."""

import re

STORM = """
import random, signal, sys, tempfile, time, traceback
from pathlib import Path
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.mixed_queries import mixed_limbs, segments

kinds, count = sys.argv[1].split(","), int(sys.argv[2])
rng, dice = np.random.default_rng(1), random.Random(7)
limbs = mixed_limbs(1500, rng, 10.0)
start, end = segments(rng, 3000, 10.0)
world = cc.HitWorld(limbs)
file = Path(tempfile.mkdtemp()) / "limbs.npz"
limbs.save(file)
some = np.arange(0, 1500, 3)
many, places = rng.uniform(-10, 10, (13_000, 3)), rng.uniform(-10, 10, (5000, 3))  # shared with helpers
balls = cc.HitWorld(cc.Limbs.spheres(places, 0.1))
rig, people = cc.Rig.humanoid(), cc.HitWorld()
ids = people.spawn(rig, 70)

def poses():
    joints = rig.rest_orientations + 0.1 * rng.normal(size=(70, 17, 4))
    return rig.forward(rng.uniform(-10, 10, (70, 3)), [0, 0, 0, 1], joints)

people.set_poses(ids, *poses())

def fields():
    hits = world.cast_segments(start, end)
    return hits.position, hits.normal, hits.exit_position, hits.thickness

def rebuild():
    # every limb goes elsewhere, so that a thread builds a new tree
    world.set_endpoints(limbs.p1[::-1], limbs.p1[::-1] + (limbs.p2 - limbs.p1))
    world.cast_segments(start, end)
    world.finish_rebuild()

def move_people():
    # all, and then few at a time, in place or, while an answer is held, into other columns
    positions, orientations = poses()
    people.set_poses(ids, positions, orientations)
    for k in range(20):
        held = people.cast_segments([0, 0, 0], [1, 1, 1]) if k % 4 == 0 else None
        chosen = rng.permutation(70)[: 1 + k % 3]
        people.set_poses(ids[chosen], positions[chosen] + 0.01, orientations[chosen])

def check_people():
    # limbs are where the bones have them, and rays see them there
    state = people.snapshot()
    positions, orientations = (column.reshape(70, 17, -1) for column in state._columns[4:6])
    fresh = cc.HitWorld(rig.place(positions, orientations, character=ids))
    for name in ("p1", "p2", "rows", "kernel_shape"):
        assert getattr(state._table, name).tobytes() == getattr(fresh.limbs._table, name).tobytes(), name
    got, want = people.cast_segments(start[:400], end[:400]), fresh.cast_segments(start[:400], end[:400])
    assert got.limb.tobytes() == want.limb.tobytes() and got.hit.any()

JOBS = {{
    "build": lambda: cc.HitWorld(limbs),
    "move": lambda: world.set_endpoints(limbs.p1, limbs.p2),
    "move some": lambda: world.set_endpoints(limbs.p1[some], limbs.p2[some], limbs=some),
    "cast many": lambda: world.cast_segments(many, -many).limb,
    "move many": lambda: balls.set_endpoints(places + 0.1, places + 0.1),
    "cast": lambda: world.cast_segments(start, end).limb,
    "few": lambda: [world.cast_segments(start[i], end[i]).limb for i in range(50)],
    "fields": fields,
    "chords": lambda: world.chords_segments(start, end).thickness,
    "few chords": lambda: world.chords_segments(start[:20], end[:20]).thickness,
    "points": lambda: world.contains_points(start).axis_distance_squared,
    "closest points": lambda: world.closest_points(start[:900]).position,
    "near": lambda: world.points_within(start[:900], 0.5).distance,
    "thick": lambda: world.cast_segments(start[:900], end[:900], radius=0.05).position,
    "thick chords": lambda: world.chords_segments(start[:300], end[:300], radius=0.05).thickness,
    "clearance": lambda: world.cast_segments(start[:5], end[:5]).clearance,
    "balls": lambda: world.overlap_spheres(start[:900], 0.5).limb,
    "capsules": lambda: world.overlap_capsules(start[:300], end[:300], 0.05).undecided,
    "boxes": lambda: world.overlap_boxes(start[:100], [0, 0, 0, 1], [0.5, 0.4, 0.3]).undecided,
    "blades": lambda: world.sweep_capsules(start[:20], end[:20], start[:20] + 0.5, end[:20] + 0.5, 0.05).position,
    "doubts": lambda: world.doubt_segments(start[:100], end[:100], 0.05).verdict,
    "occluded": lambda: world.occluded_segments(start, end),
    "exact": lambda: cc.HitWorld(limbs[:1]).cast_segments(limbs.p1[:1] - 1, limbs.p1[:1]).limb,
    "load": lambda: cc.Limbs.load(file),
    "save": lambda: limbs.save(file),
    "explain": lambda: limbs.explain_segment(start[0], end[0], limb=3),
    "rebuild": rebuild,
    "grow": lambda: limbs.inflated(0.001),
    "classify": lambda: limbs[:1].classify_points(start),
    "move people": move_people,
}}

def mirror_jobs():
    # jobs of a mirror of bodies of every kind and a mesh, and its answers once the bodies are where they began
    from cylcollide._pybullet import data_folder, pybullet as p
    from cylcollide.bullet import Mirror
    from support.pybullet_scenes import geometry
    c = p.connect(p.DIRECT)
    p.setAdditionalSearchPath(str(data_folder()), physicsClientId=c)
    geometry(c, rng)
    duck = p.createCollisionShape(p.GEOM_MESH, fileName="duck.obj", meshScale=[0.1] * 3, physicsClientId=c)
    p.createMultiBody(0, duck, basePosition=[0, 0, 0.5], physicsClientId=c)
    state, mirror = p.saveState(physicsClientId=c), Mirror(c, mesh="wrap")
    first, last = start[:400] / 5.0, end[:400] / 5.0

    def step():
        p.stepSimulation(physicsClientId=c)
        mirror.sync()

    def add():
        p.createMultiBody(1.0, duck, basePosition=[2, 2, 2], physicsClientId=c)
        mirror.sync()

    bodies = p.getNumBodies(physicsClientId=c)

    def answers():
        while p.getNumBodies(physicsClientId=c) > bodies:
            p.removeBody(p.getBodyUniqueId(bodies, physicsClientId=c), physicsClientId=c)
        p.restoreState(state, physicsClientId=c)
        return mirror.rayTestBatch(first, last), mirror.rayTestBatch(first, last, reportHitNumber=1)

    return answers, {{
        "mirror sync": step,
        "mirror filters": lambda: mirror.sync(filters=True),
        "mirror bodies": add,
        "mirror rays": lambda: mirror.rayTestBatch(first, last),
        "mirror few rays": lambda: [mirror.rayTest(first[i], last[i]) for i in range(20)],
        "mirror numbered": lambda: mirror.rayTestBatch(first, last, reportHitNumber=1),
    }}

def past_jobs():
    # jobs of a world of characters and its history, and what both answer once the characters are where they began
    from support.character_life import all_shapes_rig
    rig, policy = all_shapes_rig(), cc.Policy.penetration(0.25, {{"head": 2.0}})
    arena = cc.HitWorld(limbs[:200])
    ids, posed = arena.spawn(rig, 60), rng.uniform(-10.0, 10.0, (60, 4, 3))
    turns = rng.normal(size=(60, 4, 4))
    history = cc.PoseHistory(arena, 6)
    for k in range(6):
        arena.set_poses(ids, posed + 0.1 * k, turns)
        history.record(k)
    kept = cc.PoseHistory(arena, 4)
    clock, first, last = [0.0], start[:300], end[:300]
    when = np.linspace(0.0, 5.0, 300)
    path = cc.flight(first[:20], last[:20] - first[:20], 4.0, gravity=(0.0, 0.0, -9.8), step=0.25)
    rig_file, policy_file = file.with_name("rig.json"), file.with_name("policy.json")
    rig.save(rig_file), policy.save(policy_file)

    def record():
        clock[0] += 1.0
        kept.record(clock[0])

    def leave():
        arena.despawn(arena.spawn(rig, 5))

    def come():
        more = arena.spawn(rig, 5)
        arena.set_poses(more, posed[:5], turns[:5])

    def answers():
        arena.despawn(np.setdiff1d(arena.characters, ids))
        arena.set_poses(ids, posed, turns)
        arena.set_layers(ids, 0xFFFFFFFF)
        hits = history.cast_segments(first, last, when)
        now = arena.cast_segments(first, last)
        assert kept.times.tolist() == sorted(set(kept.times.tolist())) and (np.diff(kept.ticks) == 1).all()
        return hits.limb.tobytes(), hits.fraction.tobytes(), now.limb.tobytes(), now.fraction.tobytes()

    return answers, {{
        "record": record,
        "past": lambda: history.cast_segments(first, last, when).position,
        "past thick": lambda: history.cast_segments(first, last, when, radius=0.05).position,
        "past chords": lambda: history.chords_segments(first, last, when).thickness,
        "past points": lambda: history.contains_points(first, when).limb,
        "past closest points": lambda: history.closest_points(first, when).position,
        "past near": lambda: history.points_within(first, 0.5, when).distance,
        "past capsules": lambda: history.overlap_capsules(first[:99], last[:99], 0.05, when[:99]).undecided,
        "past boxes": lambda: history.overlap_boxes(first[:30], [0, 0, 0, 1], [0.5, 0.4, 0.3], when[:30]).undecided,
        "past blades": lambda: history.sweep_capsules(
            first[:9], last[:9], first[:9] + 0.5, last[:9] + 0.5, 0.05, 1.0, 2.0
        ).position,
        "past doubts": lambda: history.doubt_segments(first[:50], last[:50], 0.05, when[:50], time_radius=0.2).verdict,
        "limbs at": lambda: history.limbs_at(2.5),
        "moving": lambda: history.cast_moving(first[:40], last[:40], 0.5, when[-40:]).exit_time,
        "moving path": lambda: history.cast_moving(path).position,
        "flight": lambda: cc.flight(first, last - first, 4.0, drag=0.01),
        "miss": lambda: history.explain_miss(first[0], last[0], 2.5, resolution=1.0),
        "judge": lambda: arena.judge_segments(first, last, policy).impacts.damage,
        "past judge": lambda: history.judge_segments(first, last, policy, when).by_shot(),
        "poses": lambda: arena.set_poses(ids, posed + 1.0, turns),
        "poses of some": lambda: arena.set_poses(ids[::7], posed[::7], turns[::7], teleport=True),
        "layers": lambda: arena.set_layers(ids[::3], 2),
        "spawn": come,
        "despawn": leave,
        "place": lambda: rig.place(posed, turns),
        "rig file": lambda: (rig.save(rig_file), cc.Rig.load(rig_file)),
        "policy file": lambda: (policy.save(policy_file), cc.Policy.load(policy_file)),
    }}

def world_answer():
    if "move people" in kinds:
        check_people()
    if "rebuild" in kinds:
        world.set_endpoints(limbs.p1, limbs.p2)
    if "save" in kinds:
        assert cc.Limbs.load(file) == limbs
        for _ in range(1000):  # a save that was interrupted goes on until it has removed what it wrote
            left = [path.name for path in file.parent.iterdir() if path != file]
            if not left:
                break
            time.sleep(0.01)
        assert not left
    hits = world.cast_segments(start, end)
    return hits.limb.tobytes(), hits.fraction.tobytes(), world.chords_segments(start[:30], end[:30]).limb.tobytes()

answer = world_answer
if kinds[0].startswith("mirror"):
    answer, JOBS = mirror_jobs()
if kinds[0] in {past_kinds!r}:
    answer, JOBS = past_jobs()

class Stop(BaseException):
    pass

fired, where = [0], []

def stop(*_):
    fired[0] += 1
    where[:] = traceback.format_stack()
    raise Stop

def storm(job):
    # interrupts a call again and again; returns how many signals fell into it
    job()
    length, delivered, fired[0] = 1.0, 0, 0
    for k in range(-3, count):
        begun = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.02, 1.1) * length if k >= 0 else 0)
            job()
            signal.setitimer(signal.ITIMER_REAL, 0)
            length = max(time.perf_counter() - begun, 2e-4)  # as busy as the machine is now
        except Stop:
            delivered += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert fired[0] == delivered, "an exception of the handler was swallowed:\\n" + "".join(where)
        if k % 5 == 0:
            assert answer() == want, k
    return delivered

want = answer()
signal.signal(signal.SIGALRM, stop)
for kind in kinds:
    print(kind, storm(JOBS[kind]), sep=": ", flush=True)
    assert answer() == want, kind
"""

OF_WORLD, MIRROR_KINDS, PAST_KINDS = (
    tuple(re.findall(r'^ +"([a-z ]+)": ', part, re.MULTILINE))
    for part in re.split(r"\ndef (?:mirror_jobs|past_jobs|world_answer)\(", STORM)[:3]
)
KINDS = tuple(kind for kind in OF_WORLD if kind not in ("grow", "classify"))
"""Names of the jobs; omitted jobs end before a signal can interrupt them."""

LOOKUPS = """
import enum
looked_up, lookup = [], enum.EnumMeta.__getattr__

def noting(cls, name):
    if name.startswith("__array"):
        looked_up.append(cls.__name__)
    return lookup(cls, name)

enum.EnumMeta.__getattr__ = noting
for kind in JOBS:
    looked_up.clear()
    JOBS[kind]()
    print(kind, sorted(set(looked_up)), sep=": ", flush=True)
"""
