"""States whose limbs have all moved: as if made anew, in columns that nothing else reads."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.machine_code import interpreted

import cylcollide as cc
from cylcollide.bvh.refit import refit, tree_cost
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.world import draft as drafts
from cylcollide.world.draft import Draft, refit_limbs

LIMBS, SHIFT = mixed(90).limbs(), np.array([0.3, -0.2, 0.1])


def draft_of(state, shift, kept=None):
    """A draft of the state with its limbs elsewhere."""
    table = state.table
    draft = kept or Draft(state.layout, len(state.tree.child))
    draft.columns.p1[...], draft.columns.p2[...] = table.p1 + shift, table.p2 + shift
    draft.columns.boxes[...] = table.boxes
    return draft


def numbers_of(state):
    """All that queries read."""
    return [column.tobytes() for column in (*state.table, *state.columns, state.tree.bounds)], state.tree.space


@pytest.mark.plain_python
@pytest.mark.coverage
@pytest.mark.parametrize("loop", [refit_limbs, interpreted(refit_limbs)], ids=["loop", "plain"])
def test_moved_limbs_have_the_bits_of_new_ones_in_the_same_tree(loop, monkeypatch):
    monkeypatch.setattr(drafts, "refit_limbs", loop)
    first = cc.Snapshot.of(LIMBS)
    before = numbers_of(first)
    moved = first.moved(draft_of(first, SHIFT))
    fresh = LIMBS.moved(LIMBS.p1 + SHIFT, LIMBS.p2 + SHIFT)
    tree = refit(first.tree, *limb_boxes(fresh.table))
    assert moved.limbs == fresh
    assert moved.tree.bounds.tobytes() == tree.bounds.tobytes()
    assert moved.tree.space == tree.space
    assert moved.tree.child is first.tree.child
    assert moved.built_cost == first.built_cost
    assert moved.fits
    assert numbers_of(first) == before
    with pytest.raises(ValueError, match="read-only"):
        moved.table.p1[0] = 0.0
    assert draft_of(moved, 0.0).refit(tree)[1] == tree_cost(tree.bounds, tree.child, tree.space.scale)


HOLDERS = {
    "state": lambda state: state,
    "limbs": lambda state: state.limbs,
    "a column": lambda state: state.limbs.p1,
    "part of a column": lambda state: state.limbs.p2[3:5],
    "part of a part": lambda state: state.limbs.p1[3:][::2],
    "memory": lambda state: memoryview(state.limbs.p1[5:]),
    "solid": lambda state: state.table.solid,
    "bounds": lambda state: state.tree.bounds,
    "an answer": lambda state: state.cast_segments([[-9.0, 0.0, 0.0]], [[9.0, 0.0, 0.0]]),
    "chords": lambda state: state.chords_segments([[-9.0, 0.0, 0.0]], [[9.0, 0.0, 0.0]]),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_keeps_a_draft_from_being_written(holder):
    first = cc.Snapshot.of(LIMBS)
    rows, nodes = first.layout, len(first.tree.child)
    draft = draft_of(first, 0.5)
    assert draft.suits(rows, nodes)
    held = HOLDERS[holder](first.moved(draft))
    assert not draft.suits(rows, nodes)
    del held
    assert draft.suits(rows, nodes)


def test_a_draft_that_is_written_again_has_the_bits_of_a_new_one():
    first = cc.Snapshot.of(LIMBS)
    draft = draft_of(first, 0.5)
    first.moved(draft)
    again, anew = first.moved(draft_of(first, -0.25, draft)), first.moved(draft_of(first, -0.25))
    assert numbers_of(again) == numbers_of(anew)
