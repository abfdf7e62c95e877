"""Random programs over worlds, snapshots and limbs, with bad calls among them, against exact brute force."""

import copy
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from support.cases.everyday_shape_worlds import mixed, segments_of
from support.check_cylinders import sized
from support.check_shapes import Asked, compare_chords, compare_hits
from support.copies import COPIES
from support.oracle import any_shape
from support.oracle.lines import Solid
from support.oracle.shapes.rows import Shapes, solids_of

import cylcollide as cc

pytestmark = pytest.mark.attack

COUNT = 10
"""Limbs of a world: every shape, and three again."""
numbers = st.integers(-24, 24).map(lambda k: k / 4)
vectors = st.tuples(numbers, numbers, numbers)
policies = st.sampled_from(["hit", "exit", "ignore"])
limbs_chosen = st.lists(st.integers(0, COUNT - 1), min_size=1, max_size=COUNT, unique=True)
bad_numbers = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e200, 10**400, None, "x", 1j])
powers = st.sampled_from([-480, -60, 0, 0, 0, 60, 480])

seen: Counter[str] = Counter()
"""Counts of answers over all programs."""


def as_solids(limbs: cc.Limbs) -> list[Solid]:
    """Return the limbs for the oracle, from their public columns."""
    return solids_of(limbs.kind, limbs.p1, limbs.p2, limbs.radius, limbs.radius2, limbs.box_axes, limbs.half_extents)


class Worlds(RuleBasedStateMachine):
    """One world that moves, fails to move, is copied and queried; and snapshots that stay."""

    snapshots = Bundle("snapshots")

    @initialize(seed=st.integers(0, 30), power=powers)
    def begin(self, seed: int, power: int):
        self.unit = 2.0**power
        self.limbs = self.on_a_grid(mixed(COUNT, seed=seed), self.unit)
        self.world = cc.HitWorld(self.limbs)

    @staticmethod
    def on_a_grid(shapes: Shapes, unit: float) -> cc.Limbs:
        """Return limbs with lengths on a coarse grid of the unit, so that limbs touch and rays graze."""
        p1, p2 = np.round(2 * shapes.p1) / 2, np.round(2 * shapes.p2) / 2
        p2[(p1 == p2).all(axis=1) & (shapes.p1 != shapes.p2).any(axis=1), 2] += 1.0
        r, r2, half = np.ceil(8 * shapes.radius) / 8, np.ceil(8 * shapes.radius2) / 8, np.ceil(4 * shapes.half) / 4
        r = r + np.where(shapes.kind == cc.Shape.TUBE, r2, 0.0)
        lengths = {"p1": p1, "p2": p2, "radius": r, "radius2": r2, "half": half}
        limbs = replace(shapes, **{name: column * unit for name, column in lengths.items()}).limbs()
        row = np.arange(COUNT, dtype=np.int32)
        table = limbs._table._replace(character=row // 4, mask=(1 << row % 2).astype(np.uint32))
        return cc.Limbs(table, limbs.hit_group, tuple(map(str, row)))

    # Changes ---------------------------------------------------------------------------------------------------------

    @rule(by=vectors, chosen=st.none() | limbs_chosen)
    def move(self, by, chosen):
        rows = list(range(COUNT)) if chosen is None else chosen
        p1, p2 = (end[rows] + np.array(by) * self.unit for end in (self.limbs.p1, self.limbs.p2))
        self.limbs = self.limbs.moved(p1, p2, limbs=chosen)
        self.world.set_endpoints(p1, p2, limbs=chosen)

    @rule(value=bad_numbers, row=st.integers(0, COUNT - 1), end=st.integers(0, 1), chosen=st.none() | limbs_chosen)
    def fail_to_move(self, value, row, end, chosen):
        rows = list(range(COUNT)) if chosen is None else chosen
        ends = [self.limbs.p1[rows].tolist(), self.limbs.p2[rows].tolist()]
        ends[end][row % len(rows)][row % 3] = value
        with pytest.raises(ValueError, match=r"p[12]: expected"):
            self.world.set_endpoints(*ends, limbs=chosen)

    @rule(how=st.sampled_from([*COPIES.values()]))
    def copy_world(self, how):
        self.world = how(self.world)

    @rule(target=snapshots, how=st.sampled_from([lambda x: x, copy.deepcopy]))
    def take_snapshot(self, how):
        return how(self.world.snapshot()), self.limbs

    @rule(share=st.sampled_from([0.0, 0.5, 1.0]))
    def inflate(self, share):
        bore = self.limbs.radius2[self.limbs.kind == cc.Shape.TUBE].min()
        if share == 1.0:
            with pytest.raises(ValueError, match=r"by: expected less than the tube's inner radius"):
                self.limbs.inflated(bore)
        else:
            self.limbs = self.limbs.inflated(share * min(bore, self.unit / 8))
            self.world = cc.HitWorld(self.limbs)

    # Queries ---------------------------------------------------------------------------------------------------------

    def ask(self, asked: cc.HitWorld | cc.world.Snapshot, limbs: cc.Limbs, rays, inside: str, mask: int, ignored):
        start, end = (np.array([ray[k] for ray in rays]) * self.unit for k in (0, 1))
        start, end = start + 0.0, end + 0.0
        solids = as_solids(limbs)
        kept = {
            i: solid
            for i, solid in enumerate(solids)
            if limbs.mask[i] & mask and (ignored is None or limbs.character[i] != ignored)
        }
        truths = [Asked(ray, kept, any_shape.all_chords(kept.items(), ray)) for ray in segments_of(start, end)]
        options = {"inside": inside, "mask": mask, "ignore_character": ignored}
        hits = asked.cast_segments(start, end, **options)
        assert np.array_equal(hits.character[hits.hit], limbs.character[hits.limb[hits.hit]])
        tally = compare_hits(hits, truths, inside)
        assert not tally.problems, tally.report()
        seen.update(rays=tally.rows, hits=tally.hits, inside=tally.started_inside, rechecked=hits.rechecked)
        assert np.array_equal(asked.occluded_segments(start, end, **options), hits.hit)
        _, problems = compare_chords(asked.chords_segments(start, end, **options), truths, inside)
        assert not problems, problems[0]
        moving = (start != end).any(axis=1)
        if moving.any():
            rays_hit = asked.cast_rays(start[moving], (end - start)[moving], max_distance=np.inf, **options)
            assert (rays_hit.hit >= hits.hit[moving]).all()
        found = asked.contains_points(start)
        for i, point in enumerate(start.tolist()):
            holding = [k for k, solid in enumerate(solids) if any_shape.classify(solid, point) != 0]
            assert (found.limb[i], found.count[i]) == (min(holding, default=-1), len(holding))
            true = any_shape.axis_distance_squared(solids[holding[0]], point) if holding else Fraction(-1)
            assert abs(Fraction(found.axis_distance_squared[i].item()) - true) <= abs(true) * Fraction(1, 2**44)

    segments = st.lists(st.tuples(vectors, vectors), min_size=1, max_size=3)

    @rule(rays=segments, inside=policies, mask=st.sampled_from([1, 2, 3]), ignored=st.sampled_from([None, -1, 0, 1]))
    def ask_world(self, rays, inside, mask, ignored):
        self.ask(self.world, self.limbs, rays, inside, mask, ignored)

    @rule(snapshot=snapshots, rays=segments, inside=policies)
    def ask_snapshot(self, snapshot, rays, inside):
        self.ask(*snapshot, rays, inside, 3, None)

    @invariant()
    def limbs_are_where_they_were_put(self):
        assert self.world.limbs == self.limbs


@pytest.mark.parametrize(
    ("examples", "steps"),
    [(sized(20), 12), pytest.param(1500, 40, marks=[pytest.mark.long, pytest.mark.timeout(3600)])],
)
def test_random_programs(examples: int, steps: int):
    how = settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(Worlds, settings=how)
