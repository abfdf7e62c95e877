"""A call of every loop of this room, from which their machine code is made ahead; without PyBullet."""

import numpy as np

from cylcollide._types import ALL_LAYERS
from cylcollide.bullet.box_loops import entering_rows
from cylcollide.bullet.plane import EVERY_GROUP, Sheet, sheet_hits, sheet_table
from cylcollide.bullet.pose_loops import BOX, pose_shapes, posed_memory
from cylcollide.bullet.sheet_loops import fill_sheets, first_sheets
from cylcollide.bullet.tuple_loops import LAYOUT, copy_frames
from cylcollide.bvh.build import build
from cylcollide.constants import TREE_WIDTH
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import Snapshot
from cylcollide.world.draft import Draft


def call_every_loop() -> None:
    """A box is placed; a segment crosses a plane and enters the box."""
    starts, ends, upright = np.full((1, 3), -2.0), np.full((1, 3), 2.0), np.array([[0.0, 0.0, 0.0, 1.0]])
    at, kind, frames = np.zeros(1, np.int64), np.full(1, BOX, np.int64), np.hstack([ends, upright])
    world = Snapshot.of(Limbs.boxes(starts, upright, ends))
    draft = Draft(world.rows, len(world.tree.child))
    pose_shapes(frames, at, kind, ends, starts, upright, posed_memory(1, draft.columns))
    world.moved(draft)
    states = ((tuple(starts[0].tolist()), tuple(upright[0].tolist())),)
    copy_frames(id(states), LAYOUT, frames, 0)
    tree = build(0.5 * starts, 0.5 * ends)
    entering_rows(tree, starts, ends, np.ones(1), np.empty(tree.stack_size + TREE_WIDTH), at)
    sheet = Sheet((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    sheet_hits(sheet, starts, ends, "hit")
    table, limb, shape = sheet_table([sheet], EVERY_GROUP), np.full(1, -1, np.int32), np.empty(1, np.int32)
    first_sheets(table, starts, ends, ALL_LAYERS, 1.0, 0, limb, np.full(1, np.inf), shape, np.empty(1), 0, 1)
    fill_sheets(table, starts, ends, 0, shape, np.empty((1, 3)), np.empty((1, 3)), 0, 1)
