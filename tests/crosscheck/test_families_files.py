"""The files of a run by families: tables, equal bytes for equal runs, and the page in a browser."""

import csv
import gzip
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from support.runs.families import PAGED, paged, with_summary

from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.report.page import page_html, write_page
from cylcollide.crosscheck.report.tables import DISAGREEMENTS, write_tables
from cylcollide.crosscheck.run.run import run_plan
from cylcollide.crosscheck.run.tally import Tally
from cylcollide.crosscheck.workers import local_processes

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)


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
    # A row says which segment it is: drawn again, it is that of the case.
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


def test_the_order_of_chunks_changes_nothing(result):
    chunks = result.tally.chunks
    turned = replace(result, tally=Tally({key: chunks[key] for key in reversed(chunks)}))
    assert page_html(turned) == page_html(result)


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

FRAME = """<!DOCTYPE html><body>
<iframe src="index.html" style="width:{width}px;height:30000px;border:0"></iframe><script>
addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument, plots = [...page.querySelectorAll("[data-figure]")];
  page.querySelectorAll("details").forEach((one) => {{ one.open = true; }});
  const drawn = () => plots.filter((plot) => plot.querySelector(".main-svg")).length;
  const finish = () => {{
    const report = {{
      plots: plots.length,
      drawn: drawn(),
      scene: page.querySelectorAll("#scene .gl-container, #section .main-svg").length,
      contents: page.querySelectorAll("nav a").length,
      wide: page.documentElement.scrollWidth,
      spilt: plots.filter((plot) => plot.querySelector(".main-svg")?.getBoundingClientRect().right > {width}).length,
    }};
    document.body.innerHTML = `<pre id="report">${{JSON.stringify(report)}}</pre>`;
  }};
  // Virtual time stands still while a file is read: plotly is unpacked in real time.
  const wait = (turns) => {{
    if (turns === 0) return finish();
    const request = new XMLHttpRequest();
    const left = drawn() === plots.length ? Math.min(turns, 20) : turns;
    request.onloadend = () => setTimeout(() => wait(left - 1), 50);
    request.open("GET", "index.html");
    request.send();
  }};
  wait(400);
}});
</script>"""


@pytest.mark.long
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_in_a_browser(result, tmp_path, width):
    write_page(result, tmp_path)
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
    ]
    options += ["--virtual-time-budget=30000", "--window-size=1500,30000"]
    options += [f"--user-data-dir={tmp_path / 'profile'}"]
    # Whatever asks for the network gets an error, which the console tells.
    options += ["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]
    address = (tmp_path / "frame.html").as_uri()
    done = subprocess.run([CHROMIUM, *options, address], capture_output=True, text=True, check=True, timeout=300)
    said = re.search(r'<pre id="report">(.*?)</pre>', done.stdout)
    assert said, done.stderr
    report = json.loads(said[1])
    assert report["plots"] == report["drawn"] > 10
    assert report["scene"] >= 2
    assert report["contents"] >= 4
    assert report["wide"] <= width
    assert report["spilt"] == 0
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in console if re.search(r"Uncaught|Error|ERR_|Failed to load", line)]
