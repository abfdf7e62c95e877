"""How accurate are the answers? Ours, PyBullet's and MuJoCo's on the same rays, against rational arithmetic.

Run: python benchmarks/accuracy/run.py   (needs pip install '.[crosscheck,peers]'; about four minutes on two processors)

Options: --rays N (100000) a family and shape, --seed N (0), --jobs N (all processors) for the rational arithmetic.

Writes `benchmarks/accuracy.csv` and the tables of `docs/accuracy.md`. One row of the CSV is one engine's answers to one
family of rays at one limb (see `rays.py`). Every verdict is exact, none sampled.

column                      meaning
--------------------------  ------------------------------------------------------------------------------------------
rays, hits                  rays shot, and hits that the engine reports
wrong, missed, phantom      verdicts that differ from the truth: wrong = missed (true hits) + phantom (true misses)
distance_max_mm, .._median  distance of the reported place from the true entry, along the ray, where both have a hit
distance_max_ulp, .._median the same in ulp of the largest coordinate among the ray's ends and the limb's
normal_max_deg              angle between the reported and the true normal there
solid_off_m                 largest distance by which the engine's own pose moves a point of the solid
"""

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from engines import ENGINES, cast
from rays import FAMILIES, LIMBS, draw
from truth import Truth, decide, normals

from cylcollide._types import Float64Array, Shape
from cylcollide.bench.results import markdown_table, replace_between, save, script_options, stamp
from cylcollide.bench.tables import machine
from cylcollide.bench.workloads import Segments
from cylcollide.engines import EngineHits

BENCHMARKS = Path(__file__).resolve().parents[1]
PAGE = BENCHMARKS.parent / "docs" / "accuracy.md"
BEGIN, END = "<!-- written by benchmarks/accuracy/run.py: begin -->", "<!-- end -->"
Row = dict[str, str | int | float]


def main() -> None:
    options = script_options(__doc__, str(BENCHMARKS / "accuracy.csv"))
    options.add_argument("--rays", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    chosen = options.parse_args()
    began = time.perf_counter()
    # Forking a process in which numba or an engine has threads may hang: start afresh.
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        rows = [row for case in cases() for row in measure(*case, chosen.rays, chosen.seed, pool)]
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    run: Row = stamp() | {"machine": machine(), **versions, "seed": chosen.seed}
    save(chosen.out, (run | row for row in rows))
    replace_between(PAGE, BEGIN, END, tables(run, rows))
    print(f"{len(rows)} rows in {chosen.out}, tables in {PAGE}, {time.perf_counter() - began:.0f} s")
    wrong = sum(int(row["wrong"]) for row in rows if row["engine"] == "cylcollide")
    if wrong:
        raise SystemExit(f"{wrong} verdicts of this library are wrong: see {chosen.out}")


def cases() -> list[tuple[str, str]]:
    """Every shape with every family it has: a sphere has no edge."""
    every = product(LIMBS, FAMILIES)
    return [case for case in every if case != ("sphere", "edge")]


def measure(shape: str, family: str, rays: int, seed: int, pool: Executor) -> list[Row]:
    """Shoot one family at one shape: a row for each engine that has the shape."""
    rng = np.random.default_rng([seed, list(LIMBS).index(shape), FAMILIES.index(family)])
    shots = draw(shape, family, rng, rays)
    truth = decide(LIMBS[shape], shots, pool)
    print(f"{shape} {family}: {np.isfinite(truth.fraction[:, 0]).sum()} of {rays} hit", flush=True)
    rows = []
    for name, engine in ENGINES.items():
        if Shape(int(LIMBS[shape].kind[0])) in engine.capabilities.shapes:
            answers, off, version = cast(name, shape, shots)
            row = {"engine": name, "version": version, "shape": shape, "family": family}
            rows.append(row | compare(shape, shots, truth, answers) | {"solid_off_m": f"{off:.2g}"})
    return rows


def compare(shape: str, shots: Segments, truth: Truth, answers: EngineHits) -> Row:
    """Compare one engine's answers with the truth."""
    limbs = LIMBS[shape]
    true_hit, hit = np.isfinite(truth.fraction[:, 0]), np.isfinite(answers.fraction)
    both = true_hit & hit
    # The high words are close, so that their difference is exact; the low word follows.
    fraction_off = (answers.fraction - truth.fraction[:, 0]) - truth.fraction[:, 1]
    distance = np.abs(fraction_off * np.linalg.norm(shots.ends - shots.starts, axis=1))[both]
    largest = np.max(np.abs(np.hstack([*shots, *np.broadcast_arrays(limbs.p1, limbs.p2, shots.starts)[:2]])), axis=1)
    ulps = distance / np.spacing(largest)[both]
    apart = np.linalg.norm((answers.normal - normals(limbs, shots, truth))[both].astype(np.float64), axis=1)
    return {
        "rays": len(hit),
        "true_hits": int(true_hit.sum()),
        "hits": int(hit.sum()),
        "wrong": int((hit != true_hit).sum()),
        "missed": int((true_hit & ~hit).sum()),
        "phantom": int((hit & ~true_hit).sum()),
        "distance_max_mm": rounded(1000 * distance, np.max),
        "distance_median_mm": rounded(1000 * distance, np.median),
        "distance_max_ulp": rounded(ulps, np.max),
        "distance_median_ulp": rounded(ulps, np.median),
        "normal_max_deg": rounded(np.degrees(2 * np.arcsin(np.minimum(apart / 2, 1))), np.max),
    }


def rounded(values: Float64Array, statistic: Callable[[Float64Array], np.float64]) -> str:
    """A statistic in three digits, empty if there are no values."""
    return f"{statistic(values):.3g}" if len(values) else ""


def tables(run: Row, rows: list[Row]) -> str:
    """The measured part of the page: a line about the run, a table of wrong verdicts and one of errors."""
    by_engine = {(row["engine"], row["shape"], row["family"]): row for row in rows}
    settings = ", ".join(dict.fromkeys(f"{row['engine']} {row['version']}" for row in rows))
    off = max(float(row["solid_off_m"]) for row in rows)
    ulps = max(float(row["distance_max_ulp"] or 0) for row in rows if row["engine"] == "cylcollide")
    wrong = sum(int(row["wrong"]) for row in rows if row["engine"] == "cylcollide")
    others = [name for name in ENGINES if name != "cylcollide"]
    with_wrong = list(dict.fromkeys((str(row["shape"]), str(row["family"])) for row in rows if row["wrong"]))
    verdicts = [
        [*case, str(by_engine["cylcollide", *case]["true_hits"])]
        + [f"{row['missed']}, {row['phantom']}" if (row := by_engine.get((name, *case))) else "–" for name in others]
        for case in with_wrong
    ]
    errors = [
        [shape] + [largest([row for row in rows if (row["engine"], row["shape"]) == (name, shape)]) for name in ENGINES]
        for shape in LIMBS
    ]
    return "\n\n".join(
        [
            f"{run['date']}; {run['machine']}; Python {run['python']}, numpy {run['numpy']}, {settings}. "
            f"{rows[0]['rays']:,} rays a row, seed {run['seed']}. The engines' solids lie within {off:.1g} m of ours.",
            "### Wrong verdicts: missed, phantom",
            f"cylcollide has {wrong} in all {len(cases())} rows. The {len(cases()) - len(with_wrong)} without any "
            "are left out. A dash: no such shape.",
            markdown_table(["shape", "family", "hits", *others], verdicts),
            "### Largest errors where truth and engine have a hit",
            f"Distance in mm, normal in degrees, over all families. Our largest distance error is {ulps:.2g} ulp.",
            markdown_table(["shape", *ENGINES], errors),
        ]
    )


def largest(rows: list[Row]) -> str:
    """The largest distance and normal error of an engine on a shape."""
    return f"{worst(rows, 'distance_max_mm')}, {worst(rows, 'normal_max_deg')}" if rows else "–"


def worst(rows: list[Row], column: str) -> str:
    """The largest number of a column, as it is written there."""
    return max((str(row[column]) for row in rows if row[column]), key=float)


if __name__ == "__main__":
    main()
