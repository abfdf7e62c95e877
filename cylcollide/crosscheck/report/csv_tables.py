"""The tables of a run by families as CSV: families, causes, setups, and every disagreement, one row each.

A million segments have more disagreements than that: as plain CSV some 85 MB, packed a sixth of it. So that table is
packed with gzip, which every reader of data frames opens by its name, and has six digits a number: with family, seed,
chunk, scene and row the segment itself can be drawn again, to the last bit.
"""

import gzip
import math
from collections.abc import Iterator
from pathlib import Path

from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.records import JsonObject, with_figures_apart, write_csv
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import Tally

DISAGREEMENTS = ("family", "seed", "chunk", "scene", "row", "kind", "cause", "amount", "measured", "bound", "depth")
"""Columns of that table."""

KINDS, CAUSES = ([one.label for one in names] for names in (Kind, Cause))


def write_tables(result: Result, folder: Path) -> list[Path]:
    """Write ``folder/tables/*.csv`` and return the paths; columns are listed in ``docs/crosscheck.md``."""
    target = folder / "tables"
    target.mkdir(parents=True, exist_ok=True)
    plain = {"families": _families, "causes": _causes, "setups": _setups}
    for name, flat in plain.items():
        write_csv(target / f"{name}.csv", [flat(row) for row in result.summary[name]])
    packed = target / "disagreements.csv.gz"
    # No name and no time in the file's head: equal runs give equal bytes.
    with packed.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        file.write((",".join(DISAGREEMENTS) + "\n").encode())
        for lines in _disagreements(result.tally):
            file.write(lines.encode())
    return [*(target / f"{name}.csv" for name in plain), packed]


def _families(row: JsonObject) -> JsonObject:
    flat = with_figures_apart(row, ("early_mm", "late_mm", "normal_deg"))
    causes = flat.pop("causes")
    return flat | {cause: causes.get(cause, 0) for cause in CAUSES}


def _causes(row: JsonObject) -> JsonObject:
    nearest, trials = row["nearest_to_bound"], row["interventions"]
    return {
        **{name: row[name] for name in ("cause", "count", "share")},
        **{kind: row["kinds"].get(kind, 0) for kind in KINDS},
        **{f"worst {kind}": row["worst"].get(kind) for kind in KINDS},
        **{f"nearest_{name}": nearest[name] for name in ("kind", "measured", "bound", "ratio")},
        **{name: trials[name] for name in ("cases", "tested", "proved")},
        **{name: sum(change[name] for change in trials["changes"]) for name in ("held", "failed")},
    }


def _setups(row: JsonObject) -> JsonObject:
    return {"family": row["family"], **row["setup"], **{n: v for n, v in row.items() if n not in ("family", "setup")}}


def _disagreements(tally: Tally) -> Iterator[str]:
    """Lines of each chunk."""
    for key, chunk in tally.chunks.items():
        columns = [chunk.columns[name].tolist() for name in DISAGREEMENTS[3:]]
        for scene, row, kind, cause, *numbers in zip(*columns, strict=True):
            # Six digits; nothing for what is not a number or has no bound.
            said = [f"{number:.6g}" if math.isfinite(number) else "" for number in numbers]
            place = (key.family, key.seed, key.number, scene, row, KINDS[kind], CAUSES[cause])
            yield ",".join([*map(str, place), *said]) + "\n"
