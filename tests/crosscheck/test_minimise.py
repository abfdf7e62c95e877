"""Minimised cases: kind and cause are unchanged, the truth is exact, and the numbers are short."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.faulty_engines import ExactEngine, InflatedEngine, LossyEngine, OpenEngine, Planted
from support.runs.pybullet_runs import cases, made, of_each_kind_and_cause

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.minimise import KEPT_SHARE, NotReproducedError, minimise, size
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.compare.disagreements import Cause
from cylcollide.crosscheck.compare.truth import exact_first_limbs
from cylcollide.crosscheck.engine import BulletClient, Setup


def assert_same_but_smaller(small, case, engine_of=BulletClient):
    """Assert that kind and cause are unchanged, exact arithmetic agrees, and a replay gives the same answers."""
    assert Case.read(small.record()) == small
    live = recast(small, engine_of)
    assert live.again == small
    assert (small.kind, small.cause) == (case.kind, case.cause)
    assert size(small) <= size(case)
    exact = exact_first_limbs(np.array([small.start]), np.array([small.end]), small.limbs)
    assert exact[0] == small.limb_true
    if case.amount is not None:
        assert abs(small.amount) >= KEPT_SHARE * abs(case.amount)


@cache
def kinds():
    """The first case of each kind at the rims of limbs no thicker than 1 m."""
    return {case.kind: case for case in reversed(cases("rim")) if max(case.radius) < 1.0}


@cache
def minimised(kind):
    return minimise(kinds()[kind], BulletClient)


def test_cases_of_pybullet_become_short():
    assert {"missed", "phantom", "early", "late", "normal"} == set(kinds())
    digits = []
    for kind in ("missed", "phantom", "late"):
        case, small = kinds()[kind], minimised(kind)
        assert_same_but_smaller(small, case)
        digits.append((size(case)[-1], size(small)[-1]))
    before, after = np.transpose(digits)
    assert np.median(before) > 90
    assert np.median(after) < 20


def test_irrelevant_limbs_go_and_names_stay():
    rng = np.random.default_rng(3)
    tilted = ((0.1, 0.2, 0.3), (0.31, 0.37, 0.61))
    p1, p2 = ([tuple(5 + rng.normal(size=3)) for _ in range(2)] for _ in range(2))
    limbs = [p1[0], tilted[0], p1[1]], [p2[0], tilted[1], p2[1]], [0.1, 0.05, 0.1]
    case = made(*limbs, (0.2, -1.0, 0.5), (0.21, 2.0, 0.4), kind="early", names=("a", "shin", "b"))
    small = minimise(case, BulletClient)
    assert_same_but_smaller(small, case)
    assert size(small) < size(case)
    assert small.names == ("shin",)
    assert small.length < case.length
    assert 0.0 in np.abs((*small.p1[0], *small.p2[0]))


def test_irrelevant_settings_go():
    setup = Setup(construction="urdf", moved=3.0)
    line = (0.013, 0.021, 0.5), (0.017, 0.022, -0.5)
    case = made([(0.01, 0.02, 0.0)], [(0.11, 0.23, 0.01)], [0.05], *line, kind="early", setup=setup)
    assert case.cause == Cause.SHAPE.label
    small = minimise(case, BulletClient)
    assert_same_but_smaller(small, case)
    assert small.setup == Setup(construction="urdf")


def test_it_is_deterministic_and_idempotent():
    small = minimised("late")
    assert small == minimise(kinds()["late"], BulletClient)
    # Nothing more can be removed.
    assert minimise(small, BulletClient) == small


def test_the_number_of_questions_is_bounded(monkeypatch):
    case = next(case for case in cases("rim") if case.kind == "late")
    asked = []
    monkeypatch.setattr(
        "cylcollide.crosscheck.cases.minimise.recast", lambda *them: asked.append(them) or recast(*them)
    )
    sizes = [size(minimise(case, BulletClient, questions)) for questions in (0, 50)]
    assert len(asked) <= 2 + 0 + 50
    assert sizes[1] < sizes[0] == size(case)


@pytest.mark.parametrize(
    ("planted", "kind", "start", "end"),
    [
        pytest.param(
            *(InflatedEngine, "phantom", (-1.01, 0.2013, 0.1003), (1.02, 0.2013, 0.1203)), marks=pytest.mark.long
        ),
        (OpenEngine, "missed", (0.011, 0.0117, 2.013), (0.123, 0.017, -2.03)),
    ],
)
def test_a_planted_engine(planted, kind, start, end):
    engine_of = Planted(factory=planted)
    case = made([(0.0, 0.0, -0.503)], [(0.0, 0.0, 0.501)], [0.2], start, end, kind=kind, engine_of=engine_of)
    assert case.cause == Cause.SHAPE.label
    small = minimise(case, engine_of)
    assert_same_but_smaller(small, case, engine_of)
    assert size(small)[-1] < 20


class BlindEngine(LossyEngine):
    """Reports no hit, so that a case can be made of one ray."""

    def cast_segments(self, starts, ends):
        return self.without(ExactEngine.cast_segments(self, starts, ends), np.ones(len(starts), bool))


@pytest.mark.long
def test_a_ray_that_is_lost_by_its_place_in_the_batch():
    engine_of = Planted(factory=LossyEngine)
    limb = [(0.0, 0.0, -0.503)], [(0.0, 0.0, 0.501)], [0.2]
    case = made(
        *limb, (-1.0, 0.013, 0.0117), (1.0, 0.017, 0.0123), kind="missed", engine_of=Planted(factory=BlindEngine)
    )
    beside = ((-1.0, 3.0, 0.0), (1.0, 3.0, 0.0))
    case = replace(case, cause=Cause.API_LIMIT.label, bound=None, before=(beside,) * 999, after=(beside,) * 40)
    small = minimise(case, engine_of, most=100)
    assert_same_but_smaller(small, case, engine_of)
    assert (len(small.before), small.after) == (999, ())


def test_a_case_that_does_not_reproduce_is_refused():
    case = next(case for case in cases("rim") if case.kind == "phantom")
    with pytest.raises(NotReproducedError, match="got another answer to this missed"):
        minimise(replace(case, kind="missed", limb_true=0, limb_engine=-1), BulletClient)


@pytest.mark.long
@pytest.mark.parametrize(
    "family", ["rim", "side-graze", "elbow", "construction", "segment-ends", "inside-start", "extremes", "stale-boxes"]
)
def test_every_kind_and_cause_becomes_smaller(family):
    found = of_each_kind_and_cause(cases(family, 2000))
    shrunk = 0
    for case in found:
        small = minimise(case, BulletClient)
        assert_same_but_smaller(small, case)
        shrunk += size(small) < size(case)
    # A late hit on a limb of 100 m that depends on the last bit of every number cannot shrink.
    assert shrunk >= len(found) - 1
