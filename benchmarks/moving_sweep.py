"""The sweep of flying bullets: `cast_moving` by the million, every row compared with an independent oracle.

    python benchmarks/moving_sweep.py --bullets 1e6   (needs pip install '.[test]')

A bullet is cast in a history of 4 to 12 limbs of every shape but boxes, over three or four ticks; most are edge cases:
grazes of 10⁻¹ … 10⁻¹⁵ of a radius, in space and in time, contacts at the time of a tick, rims, bullets that move with
a limb, whole numbers, for exact touches; limbs that turn over, shrink to short axes, stand still, are carried by bones
(`tests/support/moving_sweep.py`). Hit or miss, limb, tick, face, fraction and alpha are judged, and with them the order
of limbs. The oracle (`tests/support/oracle/compiled/moving.py`) has 106 bits and shares neither code nor formulas with
the library; Sturm chains in rational arithmetic decide the cases that it leaves open.

The same command resumes a stopped run. The status is 1 if a row is wrong; `--chunk K` repeats one chunk.

column         meaning
-------------  -----------------------------------------------------------------------------------------------------
family, limb   what bullets are aimed at, and what that limb does
bullets, pairs rows of `cast_moving`; these times the limbs of the history
hits … none    of the rows; by face
rechecked      rows that the library's float64 bounds left to its exact arithmetic
by_rationals   rows that the oracle's 106 bits left to rationals
wrong          rows with a wrong verdict, limb, tick or face, a fraction off by 2 u or an alpha by 4 u
"""

import sys
import time
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHMARKS.parent / "tests")]

from support.moving_sweep import run_chunk  # noqa: E402
from support.soak.tally import Tally, version_of  # noqa: E402

from cylcollide.bench.results import save, script_options, stamp  # noqa: E402


def write_csv(tally: Tally, seconds: float, file: Path) -> None:
    """Write the tally, a row per family and motion, and their sum last."""
    first = stamp()
    label = {"date": first["date"], "version": tally.version, "machine": first["machine"], "seed": tally.seed}
    numbers = {name: {k: round(v) for k, v in row.items()} for name, row in sorted(tally.rows.items())}
    columns = list(next(iter(numbers.values())))
    numbers["all; all"] = {k: sum(row[k] for row in numbers.values()) for k in columns}
    named = ((*name.split("; "), row) for name, row in numbers.items())
    save(file, (label | {"family": family, "limb": limb} | row for family, limb, row in named))
    total = numbers["all; all"]
    print(
        f"{total['bullets']} bullets, {total['pairs']} pairs, {total['wrong']} wrong, {seconds:.0f} s of processor time"
    )


def main() -> int:
    options = script_options(__doc__, str(BENCHMARKS / "moving_sweep.csv"))
    options.add_argument("--bullets", type=float, default=1e6, help="stop after so many (1e6)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", type=Path, default=BENCHMARKS / ".soak" / "moving", help="for what is finished")
    options.add_argument("--chunk", type=int, help="run this chunk alone")
    chosen = options.parse_args()
    if chosen.chunk is not None:
        part = run_chunk(chosen.seed, chosen.chunk)
        print(*(case["what"] for case in part.cases), f"{len(part.cases)} wrong", sep="\n")
        return int(bool(part.cases))
    tally, begun = Tally(chosen.folder, chosen.seed, version_of("moving_sweep.py", "oracle")), time.process_time()
    missing = iter(tally.missing())
    try:
        while tally.total("bullets") < chosen.bullets:
            tally.add(run_chunk(chosen.seed, next(missing)))
            if len(tally.done) % 25 == 0:
                print(f"{tally.total('bullets'):.0f} bullets, {tally.total('wrong'):.0f} wrong", flush=True)
    except KeyboardInterrupt:
        print("stopped: the same command goes on", flush=True)
    if tally.rows:
        write_csv(tally, time.process_time() - begun, chosen.out)
    return int(tally.total("wrong") > 0)


if __name__ == "__main__":
    sys.exit(main())
