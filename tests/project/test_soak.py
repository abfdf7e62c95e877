"""The soak: a fault in any field is counted and saved as a case, and finished chunks are not lost."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.oracle.shapes.rows import Shots
from support.soak import judge, tally
from support.soak.batches import ROWS, Batch, batches

FIELDS = ("hit", "limb", "face", "started_inside", "fraction", "position", "_resolved")


def farther(hits: Any, i: int, s: Shots) -> None:
    """Move a hit by 8 ulp of the largest coordinate."""
    step = s.end[i] - s.start[i] if s.limit is None else s.end[i]
    largest = np.abs([s.start[i], s.start[i] + step, s.shapes.p1[i], s.shapes.p2[i]]).max()
    hits.fraction[i] += 8 * np.spacing(largest) / np.abs(step).max()


def lost(hits: Any, i: int, _: Shots) -> None:
    hits.limb[i], hits.hit[i], hits.face[i], hits.fraction[i] = -1, False, 11, np.inf


def put(name: str, value: Any, hits: Any, i: int, _: Shots) -> None:
    getattr(hits, name)[i] = value


FAULTS: dict[str, Callable[[Any, int, Shots], None]] = {
    "lost": lost,
    "another limb": lambda hits, i, s: put("limb", hits.limb[i] + 1, hits, i, s),
    "another face": lambda hits, i, s: put("face", 1 - hits.face[i], hits, i, s),
    "inside": lambda hits, i, s: put("started_inside", not hits.started_inside[i], hits, i, s),
    "farther": farther,
    "no place": partial(put, "position", np.nan),
    "no fraction": partial(put, "fraction", np.nan),
}


def batch_of(chunk: int, number: int, rows: int) -> Batch:
    """Return some rays of a batch of a chunk."""
    batch, _ = list(batches(3, chunk))[number]
    return replace(batch, shots=batch.shots.take(np.linspace(0, len(batch.shots) - 1, rows).astype(int)))


ROW_BY_ROW, AT_THE_LIMIT, CROWD, RAYS_AT_A_CROWD = (0, 0), (10, 1), (6, 0), (1, 1)


@pytest.mark.long
@pytest.mark.parametrize(
    "which",
    [ROW_BY_ROW, *(pytest.param(which, marks=pytest.mark.ci_long) for which in (AT_THE_LIMIT, CROWD, RAYS_AT_A_CROWD))],
)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, which: tuple[int, int], monkeypatch: pytest.MonkeyPatch):
    """Among rays that the compiled oracle decides, and among those that need rational arithmetic."""
    batch, asked, wrong = batch_of(*which, 150), judge.ask, set[int]()

    def faulty(batch: Batch, inside: str) -> judge.Answers:
        answers = asked(batch, inside)
        hits = SimpleNamespace(**{name: getattr(answers.hits, name) for name in FIELDS})
        for name in FIELDS[:-1]:
            setattr(hits, name, np.array(getattr(hits, name)))
        for i in np.flatnonzero(hits.hit & (hits.fraction > 1e-6) & (hits.face < 2))[::3].tolist():
            FAULTS[fault](hits, i, batch.shots)
            wrong.add(i)
        return replace(answers, hits=hits)

    assert not judge.judge(batch, "hit").wrong
    monkeypatch.setattr(judge, "ask", faulty)
    judged = judge.judge(batch, "hit")
    assert len(wrong) > 5
    assert {one.row for one in judged.wrong} == wrong
    assert judged.columns["wrong"].sum() == len(wrong)


@pytest.mark.long
@pytest.mark.ci_long
@pytest.mark.parametrize("name", ["crossed", "blocked"])
def test_a_fault_among_the_limbs_behind_is_found(name: str, monkeypatch: pytest.MonkeyPatch):
    batch, asked = batch_of(*CROWD, 60), judge.ask

    def faulty(batch: Batch, inside: str) -> judge.Answers:
        answers = asked(batch, inside)
        column = getattr(answers, name)
        column[7] = ~column[7]
        return answers

    monkeypatch.setattr(judge, "ask", faulty)
    assert [one.row for one in judge.judge(batch, "hit").wrong] == [7]


@pytest.mark.long
@pytest.mark.ci_long
@pytest.mark.parametrize(("chunk", "row"), [(0, 5), (6, 3), (10, 8)])
def test_a_case_is_replayed(chunk: int, row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With the same numbers and limbs, in a batch of the same size."""
    number = 1 if chunk == 0 else 0
    batch, inside = list(batches(3, chunk))[number]
    written = {"inside": inside, **tally._written(batch, row)}
    (tmp_path / "case.json").write_text(json.dumps(written))
    again = tally.read_case(json.loads((tmp_path / "case.json").read_text()))
    assert again.way == batch.way
    assert len(again.shots) == len(batch.shots)
    assert len(again.limbs) == (len(batch.shots) if batch.way == ROWS else len(batch.limbs))
    for name in ("start", "end", "limit"):
        one, two = getattr(again.shots, name), getattr(batch.shots, name)
        assert two is None or np.array_equal(one[0], two[row])
    assert tally.replay(tmp_path / "case.json") == ""
    monkeypatch.setattr(tally, "judge", lambda *_: judge.Judged({}, [judge.Wrong(0, "what is wrong")]))
    assert tally.replay(tmp_path / "case.json") == "what is wrong"


def part(chunk: int, **numbers: float) -> tally.Part:
    return tally.Part(chunk, {"row by row; box: aimed": {"pairs": 5.0, "wrong": 0.0, "fraction_ulps": 1.0, **numbers}})


def test_finished_chunks_are_kept_in_any_order(tmp_path: Path):
    one = tally.Tally(tmp_path, 7, "1.0")
    for chunk in (2, 0, 5):
        one.add(part(chunk, fraction_ulps=float(chunk)))
    two = tally.Tally(tmp_path, 7, "1.0")
    assert two.done == {0, 2, 5}
    assert two.next == 1
    missing = iter(two.missing())
    assert [next(missing) for _ in range(4)] == [1, 3, 4, 6]
    assert two.total("pairs") == 15.0
    assert two.rows["row by row; box: aimed"]["fraction_ulps"] == 5.0
    two.add(tally.Part(1, {}, [{"what": "wrong"}]))
    assert tally.Tally(tmp_path, 7, "1.0").next == 3
    assert json.loads((tmp_path / "cases" / "seed-7-chunk-1-0.json").read_text()) == {"what": "wrong"}
    assert not tally.Tally(tmp_path, 8, "1.0").done
    with pytest.raises(ValueError, match=r"seed-7\.json: expected chunks of version 2\.0, got those of 1\.0; "):
        tally.Tally(tmp_path, 7, "2.0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases", "seed-7.json"]
