"""The programs of `tests/wild/programs` with PyBullet's rays and with exact ones: what differs, why, and the time.

    python benchmarks/bullet/wild.py --out benchmarks/bullet_wild.csv --page docs/bullet.md [--steps 300]

Each program runs unedited in processes of its own, in turn: the time is that of its ray tests alone, reading of the
client included; medians over calls, and over rounds. Differences are counted in a separate run.
"""

import argparse
import contextlib
import io
import json
import runpy
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

from cylcollide.bench.results import markdown_table, replace_between, save, script_options

PROGRAMS = Path(__file__).parents[2] / "tests/wild/programs"
MARKS = "<!-- wild: made by benchmarks/bullet/wild.py -->", "<!-- end of wild -->"
ROUNDS = 3


def run_here(way: str, program: str, steps: str) -> dict[str, Any]:
    """Run a program in this process; return the median microseconds of a call, or counts of differences."""
    import pybullet  # noqa: PLC0415

    from cylcollide.bullet.__main__ import ProgramComparison  # noqa: PLC0415
    from cylcollide.bullet.patching import observers, patched  # noqa: PLC0415
    from cylcollide.bullet.watch import AsBuiltin  # noqa: PLC0415

    times: list[float] = []

    def timed(function: Any) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*arguments, **keywords)
            finally:
                times.append(time.perf_counter() - begun)

        return call

    comparison = ProgramComparison()
    observers.extend([comparison] if way == "compare" else [])
    sys.argv = [program, steps]
    with patched(mesh="wrap") if way != "own" else contextlib.nullcontext():
        for name in ("rayTest", "rayTestBatch") if way != "compare" else ():
            setattr(pybullet, name, AsBuiltin(timed(getattr(pybullet, name))))
        runpy.run_path(program, run_name="__main__")
    causes = {cause: count for cause, count in comparison.causes.items() if count}
    counts = {"rays": comparison.rays, "calls": comparison.calls, "causes": causes}
    return counts if way == "compare" else {"us": 1e6 * median(times)}


def run(way: str, program: Path, steps: int) -> dict[str, Any]:
    """`run_here` in a process of its own."""
    command = [sys.executable, __file__, "--here", way, str(program), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stderr.splitlines()[-1]))


def measure(program: Path, steps: int) -> dict[str, Any]:
    """A row about one program."""
    found = run("compare", program, steps)
    bullet, exact = (median(times) for times in zip(
        *([run(way, program, steps)["us"] for way in ("own", "exact")] for _ in range(ROUNDS)), strict=True,
    ))  # fmt: skip
    return {
        "program": program.stem,
        "steps": steps,
        "calls": found["calls"],
        "rays": found["rays"],
        "differ": sum(found["causes"].values()),
        "causes": ", ".join(f"{cause} {count}" for cause, count in found["causes"].items()),
        "bullet_us": f"{bullet:.0f}",
        "exact_us": f"{exact:.0f}",
        "ratio": f"{bullet / exact:.2f}",
    }


def page_table(rows: list[dict[str, Any]]) -> str:
    """The table of the page."""
    lines = []
    for row in rows:
        rays, calls = int(row["rays"]), int(row["calls"])
        differ = row["causes"].replace(", ", "; ") or "0"
        name, rays_a_call = f"`{row['program']}`", f"{rays // calls:,}"
        lines.append([name, rays_a_call, f"{rays:,}", differ, row["bullet_us"], row["exact_us"]])
    return markdown_table(["program", "rays a call", "rays", "differ", "PyBullet, µs a call", "exact, µs"], lines)


def main() -> None:
    parser = script_options(__doc__, "benchmarks/bullet_wild.csv")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--page", type=Path, help="the page whose table is replaced")
    parser.add_argument("--here", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.redirect_stdout(io.StringIO()):
            found = run_here(*options.here)
        print("\n" + json.dumps(found), file=sys.stderr)
        return
    rows = [measure(program, options.steps) for program in sorted(PROGRAMS.glob("*.py"))]
    save(options.out, rows)
    if options.page:
        replace_between(options.page, *MARKS, page_table(rows))


if __name__ == "__main__":
    main()
