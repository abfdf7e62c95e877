"""The files of a run by families: tables, equal bytes for equal runs, and the page in a browser."""

import csv
import gzip
import math
import shutil

import pytest
from support.runs.pybullet_runs import PAGED, paged, with_summary

from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.report.page import write_page
from cylcollide.crosscheck.report.tables import DISAGREEMENTS, write_tables
from cylcollide.crosscheck.run.run import run_plan
from cylcollide.crosscheck.workers import local_processes

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet


@pytest.fixture(scope="module")
def result():
    return paged()


# Tables and equal runs ------------------------------------------------------------------------------------------------


def test_tables_hold_every_row(result, tmp_path):
    paths = write_tables(result, tmp_path)
    families, causes, setups = (list(csv.DictReader(path.read_text().splitlines())) for path in paths[:3])
    assert [row["family"] for row in families] == [*PAGED.families[:4], "construction", "all"]
    assert int(families[-1]["phantom"]) == result.summary["families"][-1]["phantom"]
    assert [int(row["count"]) for row in causes] == [row["count"] for row in result.summary["causes"]]
    assert len(setups) == len(result.summary["setups"])
    with gzip.open(paths[3], "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == result.summary["unexplained"]["disagreements"]
    assert tuple(rows[0]) == DISAGREEMENTS
    # A row identifies its segment: drawn again, it equals that of the case.
    found = {tuple(row[name] for name in ("family", "chunk", "scene", "row", "kind")): row for row in rows}
    for case in result.tally.cases[::40]:
        row = found[(case.family, str(case.chunk), str(case.scene), str(case.row), case.kind)]
        assert row["cause"] == case.cause
        assert (
            (row["amount"] == "")
            if case.amount is None
            else math.isclose(float(row["amount"]), case.amount, rel_tol=1e-5)
        )
        shots = draw_chunk(ChunkKey(case.family, case.seed, case.chunk), PAGED.size_of(case.family))[case.scene].shots
        assert tuple(shots.start[case.row].tolist()) == case.start
    before = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_tables(result, tmp_path)] == before


@pytest.mark.long
def test_two_workers_give_the_same_files(result, tmp_path):
    with local_processes(2) as executor:
        other = run_plan(PAGED, executor)
    for name, run in (("one", result), ("two", other)):
        write_page(with_summary(run, seconds=0.0), tmp_path / name)
        write_tables(run, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 20
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


# In a browser ---------------------------------------------------------------------------------------------------------

REPORT = """new Promise((done) => {
  const plots = [...document.querySelectorAll("[data-figure]")], begun = performance.now();
  const drawings = () => plots.map((plot) => plot.querySelector(".main-svg")).filter((one) => one);
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const look = () => {
    const drawn = drawings();
    if (drawn.length < plots.length && performance.now() < begun + 60000) return setTimeout(look, 50);
    done({
      plots: plots.length,
      drawn: drawn.length,
      scene: document.querySelectorAll("#scene .gl-container, #section .main-svg").length,
      contents: document.querySelectorAll("nav a").length,
      wide: document.documentElement.scrollWidth,
      right: Math.max(...drawn.map((one) => one.getBoundingClientRect().right)),
    });
  };
  look();
})"""


@pytest.mark.long
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_in_a_browser(result, tmp_path, width):
    room = pytest.importorskip("cylcollide.view.browser", reason="the extra view")
    if not any(map(shutil.which, room.PROGRAMS)):
        pytest.skip("no Chromium is installed")
    write_page(result, tmp_path)
    with room.Browser(width, 30_000) as browser:
        browser.open((tmp_path / "index.html").as_uri())
        report = browser.evaluate(REPORT)
        events = browser.events
    assert report["plots"] == report["drawn"] > 10
    assert report["scene"] >= 2
    assert report["contents"] >= 4
    assert report["wide"] <= width
    assert report["right"] <= width
    # Any network request fails, and the log records the error.
    assert not [event for event in events if event["method"] == "Runtime.exceptionThrown"]
    console = [event["params"] for event in events if event["method"] == "Runtime.consoleAPICalled"]
    assert not [told for told in console if told["type"] == "error"]
    entries = [event["params"]["entry"] for event in events if event["method"] == "Log.entryAdded"]
    assert not [entry for entry in entries if entry["level"] == "error"]
