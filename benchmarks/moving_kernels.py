"""Bounds of contacts of flying bullets with moving limbs, beside those of rays and limbs that stand still.

    python benchmarks/moving_kernels.py --out benchmarks/moving_kernels.csv

100,000 pairs of one bullet and one limb, compiled loops over rows, one thread, taken in turn: medians of processor time
in nanoseconds a pair. A row: the shape; how far off its middle bullets are aimed, in metres, at limbs 0.2 to 0.5 m long
and 4 to 12 cm thick; which pairs: all, or those that the bullet misses or hits; their share; `moving_hit_bounds`;
`limb_hit_bounds` for the same limbs as they stand at the beginning; the median of their ratios; and, of hits, what the
accurate time of the contact takes besides. Limbs move by 5 cm, and turn by a tenth of that.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import cylcollide as cc
from cylcollide._types import POLICY_HIT, Float64Array, Int8Array
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.kernels.double_double import as_double_double
from cylcollide.kernels.hit_bounds import limb_hit_bounds
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.ray import as_vector, make_ray
from cylcollide.moving.bounds import MovingLimb, moving_hit_bounds
from cylcollide.moving.contact import accurate_contact, accurate_motion
from cylcollide.runtime.compile import compiled

PAIRS, ROUNDS = 100_000, 15
AIMS = (0.05, 0.15, 0.4, 1.5)
MAKERS: dict[str, Callable[[Float64Array, Float64Array, Float64Array], cc.Limbs]] = {
    "cylinder": cc.Limbs.cylinders,
    "tube": lambda p1, p2, r: cc.Limbs.tubes(p1, p2, r, 0.6 * r),
    "tapered": lambda p1, p2, r: cc.Limbs.tapered_cylinders(p1, p2, r, 0.6 * r),
    "ellipsoid": cc.Limbs.ellipsoids,
    "capsule": cc.Limbs.capsules,
    "sphere": lambda p1, _, r: cc.Limbs.spheres(p1, r),
}


@compiled
def bound_moving(
    points: Float64Array, sizes: Float64Array, kinds: Int8Array, accurate: bool, out: Float64Array
) -> None:
    """Write verdict and times of each bullet and moving limb; `points` (6, n, 3): bullet, p1, p2, each twice."""
    for i in range(kinds.size):
        bullet = (as_vector(points[0], i), as_vector(points[1], i))
        p1, p2 = (as_vector(points[2], i), as_vector(points[3], i)), (as_vector(points[4], i), as_vector(points[5], i))
        limb = MovingLimb(kinds[i], sizes[i, 0], sizes[i, 1], p1[0], p2[0], p1[1], p2[1])
        bounds = moving_hit_bounds(bullet, limb, sizes[i, 2])
        out[i, 0], out[i, 1], out[i, 2] = bounds.possible + 2 * bounds.certain, bounds.lower, bounds.upper
        if accurate and bounds.certain and bounds.face >= 0.0 and not bounds.inside:
            motion = accurate_motion(
                (as_double_double(bullet[0]), as_double_double(bullet[1])),
                (as_double_double(p1[0]), as_double_double(p2[0])),
                (as_double_double(p1[1]), as_double_double(p2[1])),
            )
            u, _ = accurate_contact(motion, kinds[i], sizes[i, 0], sizes[i, 1], bounds, sizes[i, 2])
            out[i, 1], out[i, 2] = u


@compiled
def bound_still(points: Float64Array, rows: Float64Array, solids: Int8Array, out: Float64Array) -> None:
    """Write verdict and times of each bullet as a segment, and the limb where it is first."""
    for i in range(solids.size):
        start, end = as_vector(points[0], i), as_vector(points[1], i)
        ray = make_ray(start, (end[0] - start[0], end[1] - start[1], end[2] - start[2]), True, 0.0, 0.0)
        bounds = limb_hit_bounds(ray, limb_at(rows, solids, i), POLICY_HIT)
        out[i, 0], out[i, 1], out[i, 2] = bounds.possible + 2 * bounds.certain, bounds.lower, bounds.upper


def pairs(shape: str, aim: float) -> tuple[Float64Array, Float64Array, cc.Limbs]:
    """Points (6, n, 3), sizes (n, 3) and limbs where they are first."""
    rng = np.random.default_rng(5)
    middle, half, way = rng.normal(size=(3, PAIRS, 3))
    middle, radius = 3.0 * middle, rng.uniform(0.04, 0.12, PAIRS)
    half *= (rng.uniform(0.1, 0.25, PAIRS) / np.linalg.norm(half, axis=1))[:, None] * (shape != "sphere")
    way *= (rng.uniform(3.0, 15.0, PAIRS) / np.linalg.norm(way, axis=1))[:, None]
    drift, turn = 0.05 * rng.normal(size=(PAIRS, 3)), 0.005 * rng.normal(size=(PAIRS, 3)) * (shape != "sphere")
    start = middle + aim * rng.normal(size=(PAIRS, 3)) - way * rng.uniform(0.0, 1.0, (PAIRS, 1))
    limbs = MAKERS[shape](middle - half, middle + half, radius)
    ends = (middle - half, middle + drift - half - turn, middle + half, middle + drift + half + turn)
    extent = np.abs(np.hstack([start, start + way])).max(axis=1) + np.abs(np.hstack(ends)).max(axis=1) + radius
    points = np.stack([start, start + way, *ends])
    return points, np.column_stack([radius, limbs._table.radius2, extent]), limbs


def measure(
    shape: str, aim: float, moving: Callable[..., Any], still: Callable[..., Any]
) -> Iterator[dict[str, object]]:
    """The rows of one shape and aim."""
    points, sizes, limbs = pairs(shape, aim)
    found = np.zeros((PAIRS, 3))
    moving(points, sizes, limbs._table.kernel_shape, False, found)
    choices = {"all": np.full(PAIRS, True), "misses": found[:, 0] == 0.0, "hits": found[:, 0] == 3.0}
    for name, chosen in choices.items():
        n = int(chosen.sum())
        if n < PAIRS // 100:
            continue
        out, rows, kinds = np.zeros((n, 3)), limbs._table.rows[chosen], limbs._table.kernel_shape[chosen]
        some = (np.ascontiguousarray(points[:, chosen]), sizes[chosen], kinds)
        works = {
            "moving": partial(moving, *some, False, out),
            "still": partial(still, some[0], rows, kinds, out),
            "accurate": partial(moving, *some, True, out),
        }
        times = {work: 1e9 / n * taken for work, taken in interleaved(works, ROUNDS, time.thread_time).items()}
        besides = round(float(np.median(times["accurate"] - times["moving"])))
        yield {
            **{"shape": shape, "aim": aim, "pairs": name, "share": round(n / PAIRS, 3)},
            **{f"{work}_ns": round(float(np.median(times[work]))) for work in ("moving", "still")},
            "ratio": round(float(np.median(times["moving"] / times["still"])), 2),
            "accurate_ns": besides if name == "hits" else "",
        }


def main() -> None:
    """Measure and write the table."""
    out = script_options(__doc__, "benchmarks/moving_kernels.csv").parse_args().out
    sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]
    from support.machine_code import as_machine_code  # noqa: PLC0415

    moving, still = as_machine_code(bound_moving), as_machine_code(bound_still)
    save(out, (row for case in product(MAKERS, AIMS) for row in measure(*case, moving, still)))


if __name__ == "__main__":
    main()
