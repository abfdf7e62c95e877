"""Statics: handles, rows, masks, what is refused; and readers while they move."""

import numpy as np
import pytest
from support.beside import repeated
from support.check_cylinders import IS_COMPILED, same_bits
from support.memory import memory_taken
from support.one_limb import about_z, one_limb_world

import cylcollide as cc

NO_TURN = [0.0, 0.0, 0.0, 1.0]
THROUGH = [-9.0, 0.1, 0.2], [9.0, 0.1, 0.2]
"""A segment along x."""


def wall(x: float, **labels) -> cc.Limbs:
    """Return a wall across x, 0.2 thick."""
    return cc.Limbs.boxes([x, 0, 0], NO_TURN, [0.1, 4, 4], **labels)


@pytest.fixture
def world() -> cc.HitWorld:
    """A bare ball at x = -5, a posed character whose only limb is an arm at x = 0 to 1, and walls at 3 and 6."""
    made = cc.HitWorld(cc.Limbs.spheres([-5, 0, 0], 1.0, character=0))
    made.set_poses(made.spawn(one_limb_world()[1]), [[0, 0, 0]], [about_z(0.0)])
    assert [made.add_static(wall(3.0, name="near")), made.add_static(wall(6.0, name="far", hit_group=4))] == [0, 1]
    return made


def test_rows_follow_all_characters(world):
    chords = world.chords_segments([-9, 0, 0], [9, 0, 0])
    assert chords.limb.tolist() == [0, 1, 2, 3]
    assert chords.character.tolist() == [0, 1, -1, -1]
    assert chords.static.tolist() == [-1, -1, 0, 1]
    assert chords.limb_name[2:].tolist() == ["near", "far"]
    assert chords.hit_group[2:].tolist() == [0, 4]
    assert chords.bone.tolist() == [-1, 0, -1, -1]
    assert chords.rig_limb.tolist() == [-1, 0, -1, -1]
    assert len(world.limbs) == len(world) == 4
    assert repr(world) == "HitWorld(4 limbs, 1 characters, 2 statics)"


def test_adding_shifts_no_row(world):
    before = world.limbs
    assert world.add_static(cc.Limbs.concat([wall(7.0), wall(8.0)])) == 2
    assert world.limbs[:4] == before
    world.remove_static(0)
    assert world.limbs[:2] == before[:2]
    assert world.snapshot()._layout.static.tolist() == [-1, -1, 1, 2, 2]
    assert world.cast_segments([4, 0, 0], [9, 0, 0])[0].static == 1
    assert world.statics.tolist() == [1, 2]


def test_handles_are_not_used_twice(world):
    world.remove_static(1)
    assert world.add_static(wall(6.0)) == 2
    for call in (world.remove_static, lambda handle: world.move_static(handle, [0, 0, 0], NO_TURN)):
        with pytest.raises(
            ValueError, match=r"handle: expected a static of this world \(2 of them, 0 to 2\), got 1: removed"
        ):
            call(1)
        for unknown in (3, -1, 0.0, True, None, "0", 2**80, [0], np.array([0])):
            with pytest.raises(ValueError, match="handle: expected a static of this world"):
                call(unknown)
    world.move_static(np.int64(0), [0, 0, 0], NO_TURN)
    with pytest.raises(ValueError, match=r"\(0 of them\), got 0: unknown"):
        cc.HitWorld().remove_static(0)


def test_a_static_moves_from_where_it_was_added(world):
    world.move_static(0, [0, 0, 1], about_z(np.pi / 2))  # from x = 3 to y = 3
    hit = world.cast_segments([0, 1, 0], [0, 9, 0])[0]
    assert (hit.static, hit.character) == (0, -1)
    assert hit.position == pytest.approx([0, 2.9, 0])
    assert hit.local_position == pytest.approx([2.9, 0, -1])
    assert hit.local_normal == pytest.approx([-1, 0, 0])
    world.move_static(0, [0, 0, 0], NO_TURN)  # relative to where it was added, not to where it is
    assert world.limbs[2] == wall(3.0, name="near")


@pytest.mark.parametrize(
    ("limbs", "labels", "message"),
    [
        (wall(1.0, character=0), {}, r"limbs: expected character -1, since a static has no character, got 0 in row 0"),
        ("wall", {}, "limbs: expected Limbs, got str"),
        (wall(1.0), {"mask": -1}, "mask: expected 0 to"),
    ],
)
def test_invalid_statics(world, limbs, labels, message: str):
    before = world.snapshot()
    with pytest.raises(ValueError, match=message):
        world.add_static(limbs, **labels)
    assert world.snapshot() is before
    assert world.add_static(wall(1.0)) == 2


@pytest.mark.parametrize(
    ("position", "orientation", "message"),
    [
        ([0, 0, 0], [0, 0, 0, 0], "orientation: expected a quaternion other than zero"),
        ([0, 2.0**500, 0], NO_TURN, r"position: expected a place where all limbs of the static have ends of magnitude"),
    ],
)
def test_invalid_places(world, position, orientation, message: str):
    tall = world.add_static(cc.Limbs.cylinders([0, 1, 0], [0, 2.0**499, 0], 1.0))
    before = world.limbs
    with pytest.raises(ValueError, match=message):
        world.move_static(tall, position, orientation)
    assert world.limbs == before
    world.move_static(tall, [0, 0, 1], NO_TURN)


def test_masks_and_groups_of_a_static_override_its_limbs(world):
    two = cc.Limbs.concat([wall(-2.0, mask=1, hit_group=5), wall(-1.5, mask=2, hit_group=6)])
    for labels, mask, group in (
        ({}, [1, 2], [5, 6]),
        ({"mask": 4}, [4, 4], [5, 6]),
        ({"hit_group": [7, 8]}, [1, 2], [7, 8]),
    ):
        handle = world.add_static(two, **labels)
        limbs = world.limbs[world.snapshot()._layout.static == handle]
        assert (limbs.mask.tolist(), limbs.hit_group.tolist()) == (mask, group)
        start = [-3, 0, 0], [9, 0, 0]
        for layer in (1, 2, 4):
            assert (world.cast_segments(*start, mask=layer).static[0] == handle) == (layer in mask)
        world.remove_static(handle)


def test_no_limbs(world):
    before = world.limbs
    handle = world.add_static(world.limbs[:0])
    world.move_static(handle, [1, 2, 3], NO_TURN)
    assert world.limbs == before
    world.remove_static(handle)


def test_bare_limbs_are_moved_without_them(world):
    world.set_endpoints([[-6, 0, 0]], [[-6, 0, 0]])
    assert world.limbs.p1[:, 0].tolist() == [-6, 0, 3, 6]
    with pytest.raises(ValueError, match="p1: expected 1 rows, got 2"):
        world.set_endpoints(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="limbs: expected 0 to 0, got 2"):
        world.set_endpoints(np.zeros((1, 3)), np.zeros((1, 3)), limbs=[2])


def test_character_calls_skip_statics(world):
    for call in (world.despawn, lambda i: world.set_layers(i, 0)):
        with pytest.raises(ValueError, match="ids: expected 0 to"):
            call(-1)
    hits = world.cast_segments([4, 0, 0], [9, 0, 0], ignore_character=-1)
    assert hits.static.tolist() == [1]
    assert world.characters.tolist() == [1]


def test_saved_limbs_have_them(world, tmp_path):
    world.limbs.save(tmp_path / "limbs")
    assert cc.Limbs.load(tmp_path / "limbs.npz") == world.limbs


def test_points_in_statics(world):
    assert world.contains_points([[3.05, 1, 1], [6.05, 1, 1], [4, 1, 1]]).limb.tolist() == [2, 3, -1]


# Threads and memory ---------------------------------------------------------------------------------------------------


def test_readers_get_whole_states_as_a_static_moves():
    """Two walls of one static always stand 1 apart; another static is added and removed meanwhile."""
    world = one_limb_world()[0]
    lift = world.add_static(cc.Limbs.concat([wall(3.0), wall(4.0)]))
    seen: set[float] = set()

    def read() -> None:
        chords = world.chords_segments(*THROUGH)
        own = chords.static == lift
        near, far = chords.entry_position[own, 0]
        assert abs(far - near - 1.0) < 1e-12
        assert (chords.limb[own] == [0, 1]).all()
        seen.add(round(float(near), 9))

    with repeated(read, read):
        for k in range(500 if IS_COMPILED else 30):
            world.move_static(lift, [k % 4, 0, 0], NO_TURN)
            if k % 16 == 0:
                world.remove_static(world.add_static(wall(8.5)))
    assert seen <= {2.9, 3.9, 4.9, 5.9}
    assert len(seen) > 1


def test_removed_statics_free_their_memory():
    world = one_limb_world()[0]
    level = cc.Limbs.concat([wall(3.0 + k) for k in range(50)])

    def build() -> None:
        handle = world.add_static(level)
        world.move_static(handle, [0, 0, 1], NO_TURN)
        world.cast_segments(*THROUGH)
        world.remove_static(handle)

    assert memory_taken(build, 50 if IS_COMPILED else 3) < 100_000
    assert len(world) == 0


def test_a_large_level_equals_a_plain_world():
    """More limbs than REBUILT_AT_ONCE, in several handles, while characters come and go."""
    world, rig, _ = one_limb_world()
    rng = np.random.default_rng(3)
    parts = [cc.Limbs.boxes(rng.uniform(-9, 9, (400, 3)), rng.normal(size=(400, 4)), [0.3, 0.2, 0.5]) for _ in range(4)]
    for part in parts:
        world.add_static(part)
        new = world.spawn(rig, 20)
        at = rng.uniform(-9, 9, (20, 1, 3))
        world.set_poses(new, at, np.tile(NO_TURN, (20, 1, 1)))
        world.despawn(new[:10])
    world.remove_static(1)
    limbs, (start, end) = world.limbs, rng.uniform(-12, 12, (2, 2000, 3))
    assert not same_bits(world.cast_segments(start, end), cc.HitWorld(limbs).cast_segments(start, end))
    assert np.array_equal(limbs[-1200:].p1, np.concatenate([part.p1 for part in (parts[0], parts[2], parts[3])]))
    world.finish_rebuild()
    assert not same_bits(world.cast_segments(start, end), cc.HitWorld(limbs).cast_segments(start, end))
