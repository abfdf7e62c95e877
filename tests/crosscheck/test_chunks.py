"""Chunks: saved whole or not at all, resumed, merged equally in any order, by any executor; and their command."""

import json
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from support.faulty_engines import ExactEngine, InflatedEngine, Planted

from cylcollide.crosscheck.cases.case import read_cases
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.run.chunk_store import Chunk, ChunkStore, UnfinishedError, run_chunks
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.run import run_plan, write_numbers

pytestmark = pytest.mark.long  # half a minute of whole commands

KEYS = [ChunkKey("generic", 0, number) for number in range(6)]
STAMP = {"schema": 2, "versions": {"x": "1"}}


def work(key):
    return Chunk({"cause": np.arange(key.number, dtype=np.int8)}, {"rays": key.number, "text": "ä"})


def run(store=None, executor=None, job=work, keys=KEYS):
    said, done = [], []
    found = run_chunks(keys, job, executor, store, said.append, done.append)
    return found, said, done


def assert_whole(found):
    assert list(found) == KEYS
    for key, chunk in found.items():
        np.testing.assert_array_equal(chunk.columns["cause"], work(key).columns["cause"])
        assert chunk.columns["cause"].dtype == np.int8
        assert chunk.record == work(key).record


def test_chunks_are_loaded_as_saved(tmp_path):
    store = ChunkStore(tmp_path / "a" / "chunks", STAMP)
    found, said, done = run(store)
    assert_whole(found)
    assert (said, sorted(done)) == ([], KEYS)
    # From disk, without messages and without work.
    again, said, done = run(store, job=None)
    assert_whole(again)
    assert (said, done) == ([], KEYS)
    assert sorted(path.suffix for path in store.folder.iterdir()) == [".npz"] * len(KEYS)


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "text", "no record"])
def test_a_damaged_chunk_is_computed_anew(tmp_path, damage):
    store = ChunkStore(tmp_path, STAMP)
    run(store)
    path = store.path(KEYS[2])
    whole = path.read_bytes()
    if damage == "no record":
        np.savez(path, cause=np.arange(2))
    else:
        middle = len(whole) // 3
        path.write_bytes(
            {
                "cut": whole[: len(whole) // 2],
                "empty": b"",
                "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
                "text": b"not a chunk\n",
            }[damage]
        )
    found, said, _ = run(store)
    assert_whole(found)
    assert len(said) == 1
    assert str(path) in said[0]
    assert "damaged" in said[0]
    assert said[0].endswith("computing this chunk anew")
    assert "\n" not in said[0]
    assert run(store, job=None)[1] == []


def test_a_chunk_of_another_version_is_computed_anew(tmp_path):
    run(ChunkStore(tmp_path, STAMP))
    found, said, _ = run(ChunkStore(tmp_path, {**STAMP, "versions": {"x": "2"}}))
    assert_whole(found)
    assert len(said) == len(KEYS)
    assert all("other versions or settings" in line for line in said)


class Backwards:
    """An executor that finishes the last chunk first."""

    def submit(self, job, key):
        future = Future()
        future.set_result(job(key))
        return future


def test_order_and_executor_do_not_matter(tmp_path):
    with ThreadPoolExecutor(3) as threads:
        assert_whole(run(executor=threads)[0])
    assert_whole(run(executor=Backwards())[0])
    # Half of them are saved already.
    store = ChunkStore(tmp_path, STAMP)
    run(store, keys=KEYS[::-2])
    assert_whole(run(store, executor=Backwards())[0])


def test_a_lost_worker_keeps_what_is_finished(tmp_path):
    store = ChunkStore(tmp_path, STAMP)

    def dies(key):
        if key.number == 3:
            raise RuntimeError("a process in the pool was terminated\nabruptly")
        return work(key)

    with ThreadPoolExecutor(1) as threads, pytest.raises(UnfinishedError, match=r"of 6 chunks are finished") as raised:
        run(store, threads, dies)
    assert "\n" not in str(raised.value)
    kept = len(list(tmp_path.glob("*.npz")))
    assert f"{kept} of 6" in str(raised.value)
    assert_whole(run(store)[0])


# Whole runs -----------------------------------------------------------------------------------------------------------

PLAN = FamiliesPlan(("rim", "elbow"), 4000, 2, tried=6)


def test_chunks_of_another_engine_are_not_mixed_in(tmp_path):
    said = []
    run_plan(FamiliesPlan(("rim",), 300, 0, Planted(factory=ExactEngine)), folder=tmp_path)
    found = run_plan(FamiliesPlan(("rim",), 300, 0, Planted(factory=InflatedEngine)), folder=tmp_path, warn=said.append)
    assert len(said) == 1
    assert found.summary["unexplained"]["disagreements"] > 50


def test_files_are_json_and_cases_can_be_read(tmp_path):
    alone = run_plan(PLAN)
    write_numbers(alone, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary == json.loads(json.dumps(alone.summary))
    assert (summary["schema"], summary["run"]) == (3, "families")
    cases = read_cases(tmp_path / "cases.json")
    assert len(cases) > 15
    assert {case.family for case in cases} == set(PLAN.families)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((("rim", "nope"), 10, 0), "expected families out of all, generic, .*got 'nope'"),
        ((("rim",), 0, 0), "rays must be at least 1, got 0"),
        ((("rim",), 10, -1), "seed must be at least 0, got -1"),
        ((("construction",), 10, 0, Planted(factory=ExactEngine)), "got 'construction'"),
        ((("batch-limits",), 8191, 0), "rays: expected at least 8,192, half a call of batch-limits, got 8,191"),
    ],
)
def test_bad_plans(wrong, message):
    with pytest.raises(ValueError, match=message):
        FamiliesPlan(*wrong)


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_runs_families_and_resumes(command, tmp_path):
    options = ["crosscheck", "--families", "near-start", "--rays", 400, "--jobs", 1, "--out", tmp_path]
    status, text, said = command(*options)
    assert (status, said) == (0, "")
    for word in ("near-start", "all", "termination tolerance", "disagreements are unexplained", "index.html"):
        assert word in " ".join(text.split())
    first = json.loads((tmp_path / "summary.json").read_text())
    chunk = next((tmp_path / "chunks").glob("near-start-*.npz"))
    chunk.write_bytes(chunk.read_bytes()[:-100])
    status, _, said = command(*options)
    assert status == 0
    (line,) = said.splitlines()
    assert "is damaged" in line
    second = json.loads((tmp_path / "summary.json").read_text())
    timed = dict.fromkeys(("seconds", "distances"))  # distances include measured times
    assert first | timed == second | timed
