"""Faults planted in every field that an engine returns: the scoreboard counts them, and a case replays them."""

import numpy as np
import pytest
from support.faulty_answers import ELSEWHERE, FAULTS
from support.runs.scoreboard import planted_engines, shared_truths

from cylcollide.crosscheck.cases.case import Case, read_cases, write_cases
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.cases.wording import headline
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.engine import NamedEngine
from cylcollide.crosscheck.generate import families
from cylcollide.crosscheck.report.page import page_html
from cylcollide.crosscheck.run import scoreboard as board
from cylcollide.crosscheck.run.chunk import compute_chunk
from cylcollide.crosscheck.run.plan import FamiliesPlan, PosesPlan
from cylcollide.crosscheck.run.run import run_plan
from cylcollide.crosscheck.run.scoreboard import SCORED_FAMILIES, scoreboard

VERDICTS = ("missed", "phantom", "wrong_limb", "lost")
SHOWN = {
    "limb": VERDICTS,
    "answer": ("missed", "lost"),
    "fraction": ("early", "late", "lost"),
    "position": ("position",),
    "normal": ("normal",),
    "limbs": ("moved",),
    "none": (),
}
"""Counts that a fault of a field raises. Only a wrong fraction raises others: the position then differs from it."""
COUNTS = (*VERDICTS, "early", "late", "normal", "position", "moved")


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with planted_engines(("planted", "support.faulty_answers:PlantedEngine")):
        yield


@pytest.fixture(scope="module")
def found():
    """The score of every fault, from one run: each scene and its truth are computed once.

    Two sizes are enough: limbs of people, and a tower, for which no errors are measured.
    """
    with shared_truths() as patch:
        patch.setattr(families, "SIZES", families.SIZES[1::3])
        patch.setattr(board, "ROUNDS", 1)
        scores = scoreboard(["planted"], 40 * len(SCORED_FAMILIES), 3)
    return {score.engine.removeprefix("planted, "): score for score in scores}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_counted_in_its_own_field_only(found, fault):
    score, field = found[fault], fault.split(" ")[0]
    assert score.error == ""
    counts = {name: getattr(score, name) for name in COUNTS if getattr(score, name)}
    assert set(counts) & set(SHOWN[field]), counts
    besides = ("position", "moved") if field in ("fraction", "limb", "answer") else ()
    of_the_other_limb = ("early", "late", "normal") if field == "limb" else ()
    assert set(counts) <= {*SHOWN[field], *besides, *of_the_other_limb}
    assert score.unproved == 0
    assert field != "fraction" or (set(counts) == {"lost"}) == fault.endswith(("nan: all", "infinite: all"))
    if field == "position" and "nan" not in fault and "infinite" not in fault:
        assert score.position_mm[2] > 1e-6
    assert (field == "fraction") >= (score.distance_mm[2] > 0.0)


@pytest.mark.parametrize("fault", ELSEWHERE)
def test_fields_of_a_wrong_hit_are_checked_too(found, fault):
    """A phantom's fields have to agree; position and normal of a wrong limb have to be those of the limb it names."""
    score, (hit, field, what) = found[fault], fault.removesuffix(": all").split(" ")
    verdict = {"phantom": "phantom", "second": "wrong_limb"}[hit]
    assert score.error == ""
    shown = {"none": set(), "fraction": {"late"}}.get(field, {field})
    counts = {name: getattr(score, name) for name in COUNTS if getattr(score, name)}
    assert set(counts) <= {verdict, *shown, *(("position", "moved") if field == "fraction" else ("moved",))}
    assert min(counts[name] for name in (verdict, *shown)) > 10
    if field in ("normal", "position"):
        assert counts[field] >= 0.9 * counts[verdict]  # a shift far away is rounded off, along length 0 it is 0
    assert what == "none" or {case.kind for case in score.cases} >= {name.replace("_", " ") for name in shown}


OFTEN = (
    "limb swapped: all", "limb nan: all", "fraction stale: all", "position nan: all", "normal shifted: every seventh",
    "answer lost: every seventh", "limbs late: all",
)  # fmt: skip
"""Faults of every field, whose cases are replayed by default."""


@pytest.mark.parametrize(
    "fault", [pytest.param(x, marks=() if x in OFTEN else pytest.mark.long) for x in (*FAULTS, *ELSEWHERE)]
)
def test_a_case_replays_on_a_new_engine(found, fault, tmp_path):
    score = found[fault]
    write_cases(tmp_path / "cases.json", list(score.cases))
    cases = read_cases(tmp_path / "cases.json")
    assert cases == list(score.cases)
    shown = [name for name in SHOWN.get(fault.split(" ")[0], COUNTS) if getattr(score, name)]
    assert {name.replace("_", " ") for name in shown} - {"lost", "moved"} <= {case.kind for case in cases}
    kinds = {}
    for case in cases:
        kinds.setdefault((case.kind, bool(case.was), bool(case.before or case.after)), case)
    assert kinds
    for case in kinds.values():
        again = recast(case)
        assert again.reproduced, again.instead
        assert headline(again.again).startswith("planted")


def test_neighbours_are_kept_only_where_they_are_needed(found):
    for fault, score in found.items():
        needed = any(word in fault for word in ("stale", "swapped", "seventh"))
        for case in score.cases:
            assert needed or not (case.before or case.after), (fault, case.kind)
    stale = [case for case in found["normal stale: all"].cases if case.kind == "normal"]
    assert {(len(case.before), len(case.after)) for case in stale} == {(1, 0)}


@pytest.mark.long
@pytest.mark.parametrize("fault", [fault for fault in (*FAULTS, *ELSEWHERE) if not fault.startswith("limbs")])
def test_a_run_by_families_finds_a_fault_and_its_cases_replay(fault):
    plan = FamiliesPlan(("generic", "humanoid"), 600, 3, NamedEngine("planted", (("fault", fault),)))
    chunks = [compute_chunk(plan, key) for key in plan.keys]
    kinds = {Kind(kind).field for chunk in chunks for kind in chunk.columns["kind"]}
    field = fault.split(" ")[0 if fault in FAULTS else 1]
    assert kinds & set(SHOWN[field] or VERDICTS)
    cases = [Case.read(record) for chunk in chunks for record in chunk.record["cases"]]
    first = {case.kind: case for case in cases}
    assert set(first) == {kind.replace("_", " ") for kind in kinds}
    for case in first.values():
        again = recast(case)
        assert again.reproduced, again.instead
    for case in cases:
        needed = any(word in fault for word in ("stale", "swapped", "seventh"))
        assert needed or not (case.before or case.after), case.kind


@pytest.mark.parametrize("fault", ["position nan: all", "normal scaled: all"])
def test_the_humanoid_page_exists_for_a_fault(fault):
    result = run_plan(PosesPlan(600, 1, ("walk",), NamedEngine("planted", (("fault", fault),))))
    total = result.summary["families"][-1]
    assert any(total[name] for name in SHOWN[fault.split(" ")[0]])
    assert len(page_html(result)) > 100_000


def test_an_engine_without_faults_scores_0():
    from support.faulty_answers import PlantedEngine  # here alone under another name than in the registry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlantedEngine, "variants", {"": {}})
        (score,) = scoreboard(["planted"], 600, 3)
    assert [getattr(score, name) for name in COUNTS] == [0] * len(COUNTS)
    assert np.array_equal(score.position_mm, (0.0, 0.0, 0.0))
    assert score.cases == ()
