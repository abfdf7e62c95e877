"""The tables of a run and of the scoreboard, identical for the terminal and the page; and their CSV files.

The table of disagreements, 85 MB for a million segments, is compressed and has six digits per number: with family,
seed, chunk, scene and row the segment itself can be drawn again, to the last bit.
"""

import gzip
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from cylcollide.crosscheck.cases.wording import NOTHING, digits, percent, scale_words
from cylcollide.crosscheck.compare.disagreements import COUNTED_FIELDS, VERDICTS, Cause, Kind
from cylcollide.crosscheck.csv_rows import with_figures_apart, write_csv
from cylcollide.crosscheck.generate.bullets import AIMED
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import FinishedRun
from cylcollide.crosscheck.run.scoreboard import SCORED_FAMILIES
from cylcollide.crosscheck.run.tally import Tally
from cylcollide.process.files import replace

DISAGREEMENTS = ("family", "seed", "chunk", "scene", "row", "kind", "cause", "amount", "measured", "bound", "depth")
"""Columns of the table of disagreements."""

KINDS, CAUSES = ([one.label for one in names] for names in (Kind, Cause))
PLACES = ("median", "99 %", "max")
NAMES = {"hits": "true hits", "lost": "no answer", "normal": "normal off", "position": "position off"}
"""Heads of columns that differ from the field names with spaces."""


@dataclass(frozen=True)
class ReportTable:
    """A table of text; the first column names the row, the others are numbers unless ``numbers`` is False."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    numbers: bool = True


def run_tables(summary: JsonObject, *, wide: bool) -> list[ReportTable]:
    """Verdicts and errors by family, and the causes if they were sought; ``wide``: with the columns of the page."""
    posed, rows = summary["run"] == "poses", [row for row in summary["families"] if row["rays"]]
    rows = rows[:1] if wide and len(rows) == 2 else rows
    fields = [*(["rays", "hits"] if wide else ["rays"]), *(kind.field for kind in Kind), *(["proved"] if wide else [])]
    verdicts = _counts("Verdicts and errors by family", "family", fields, rows)
    figures = {"early by, mm": "early_mm", "late by, mm": "late_mm", "normal off by, °": "normal_deg"}
    errors = _figures("Sizes of these errors" if not posed else "Errors of right hits", "family", figures, rows)
    return [verdicts, *([errors] if wide or posed else []), *([cause_table(summary)] if summary["causes"] else [])]


def limb_table(tally: Tally, plan: PosesPlan) -> ReportTable:
    """Wrong verdicts by limb, the thinnest first: by the true limb or, for phantoms, by the reported one."""
    aimed = tally.column("family")[np.isin(tally.column("kind"), VERDICTS)] == AIMED
    true, reported = tally.column("limb_true"), tally.column("limb_engine")
    limb, poses = np.where(true >= 0, true, reported).astype(np.int64), plan.poses
    hits = np.sum([chunk.record["limb_hits"] for chunk in tally.chunks.values()], axis=0)
    counts = hits, *(np.bincount(rows, minlength=len(hits)) for rows in (limb[aimed], limb))
    rows = [
        [poses.limb_names[i].replace("_", " "), scale_words(poses.radius[i]), *(f"{n[i]:,}" for n in counts)]
        for i in np.argsort(poses.radius, kind="stable").tolist()
    ]
    heads = ("limb", "radius", "true hits", "wrong, aimed", "wrong, all")
    return ReportTable("Wrong verdicts by limb, the thinnest first", heads, rows)


def cause_table(summary: JsonObject) -> ReportTable:
    """The causes, most frequent first."""
    rows = []
    for row in summary["causes"]:
        ratio, trials = row["nearest_to_bound"]["ratio"], row["interventions"]
        proved = f"{trials['proved']} of {trials['tested']}" if trials["tested"] else NOTHING
        nearest = NOTHING if ratio is None else f"{ratio:.6f}"
        rows.append([row["cause"], f"{row['count']:,}", percent(row["share"], 1.0), nearest, proved])
    heads = ("cause", "count", "share", "nearest to its bound", "proved by a change")
    return ReportTable("Causes, and the interventions on a sample of each", heads, rows)


def score_tables(scores: Sequence[JsonObject], *, wide: bool) -> list[ReportTable]:
    """The scoreboard's records: verdicts, errors, starts inside and limits; ``wide``: with the columns of the page."""
    ran = [score for score in scores if not score["error"]]
    note = "Verdicts, each proved, on segments that start outside. Speed: cylcollide = 1."
    if any("-sided polygons" in limit for score in scores for limit in score["limits"]):
        note += " A polygon's misses within its sagitta are wrong verdicts too."
    verdicts = _counts("Wrong verdicts", "engine", ["rays", *COUNTED_FIELDS], ran, note)
    shares = [percent(sum(score[name] for name in COUNTED_FIELDS), score["rays"]) for score in ran]
    cells = [[*row, share, digits(s["speed"])] for row, share, s in zip(verdicts.rows, shares, ran, strict=True)]
    tables = [ReportTable(verdicts.title, (*verdicts.heads, "wrong of asked", "speed"), cells, note)]
    title = "Right hits at limbs of people's size: distance and normal off"
    tables.append(_figures(title, "engine", {"mm": "distance_mm", "°": "normal_deg"}, ran))
    note = "Moved: verdicts that are wrong after a move alone."
    title, fields = "Hits that are off beyond the rounding of float64, at any scale", ("early", "late", "normal")
    tables.append(_counts(title, "engine", (*fields, "position", "moved"), ran, note))
    tables.append(_figures("Positions off from where the fraction leads", "engine", {"mm": "position_mm"}, ran))
    if wide:
        families = ran[0]["families"] if ran else ()
        cells = [[family, *(f"{score['families'].get(family, 0):,}" for score in ran)] for family in families]
        tables.append(ReportTable("Wrong or lost, by family", ("family", *(s["engine"] for s in ran)), cells))
    about = [
        [s["engine"], s["inside"], s["error"] or ", ".join(s["limits"]) or "none", _versions(s)][: 4 if wide else 3]
        for s in scores
    ]
    heads = ("engine", "a start inside", "limits, or why it did not run", "versions")[: 4 if wide else 3]
    return [*tables, ReportTable("What engines cannot do, and what starts inside did", heads, about, numbers=False)]


def distance_tables(found: JsonObject) -> list[ReportTable]:
    """Errors of the engines' signed distances, and the causes of PyBullet's; no tables without such engines."""
    if not found.get("rows"):
        return []
    rows = []
    for row in found["rows"]:
        errors = [_short(row[side][place]) for side in ("outside_mm", "inside_mm") for place in (0, 2)]
        counts = (f"{row[key]:,}" for key in ("wrong_sign", "lost"))
        rows.append([f"{row['engine']}: {row['shape']}", *counts, *errors, digits(row["slower"])])
    heads = ("wrong sign", "no answer", "outside median", "max", "inside median", "max", "time")
    note = (
        f"{found['rows'][0]['points']:,} points a shape: a third about limbs, the others 10 nm to 10 cm beside "
        "surfaces or edges. Errors in mm; time: cylcollide = 1."
    )
    tables = [ReportTable("Signed distances of points from limbs", ("engine and shape", *heads), rows, note)]
    cells = []
    for row in found["causes"]:
        proved = NOTHING if row["proved"] is None else f"{row['proved']:,} of {row['count']:,}"
        cells.append([f"{row['shape']}: {row['cause']}", f"{row['count']:,}", _short(row["largest_mm"]), proved])
    if cells:
        note = (
            f"PyBullet's cylinders and boxes are smaller by the margin, {found['causes'][0]['margin_mm']:g} mm, and "
            "swept by a ball of that radius: off by up to √2 − 1 of it near rims, √3 − 1 near corners. GJK and "
            "EPA approach the distance outside and inside of what is swept."
        )
        title = "Why PyBullet's distances are off by more than a nanometre"
        heads_of_causes = ("shape and cause", "points", "largest error, mm", "smaller with half the margin")
        tables.append(ReportTable(title, heads_of_causes, cells, note))
    return tables


def _counts(title: str, name: str, fields: Sequence[str], rows: Sequence[JsonObject], note: str = "") -> ReportTable:
    heads = [NAMES.get(field, field.replace("_", " ")) for field in fields]
    cells = [[row[name], *(f"{row[field]:,}" for field in fields)] for row in rows]
    return ReportTable(title, (name, *heads), cells, note)


def _figures(title: str, name: str, columns: dict[str, str], rows: Sequence[JsonObject]) -> ReportTable:
    """Three columns for each field: median, 99th percentile and largest."""
    heads = [f"{head} {place}" for head in columns for place in PLACES]
    cells = [[row[name], *(_short(value) for field in columns.values() for value in row[field])] for row in rows]
    return ReportTable(title, (name, *heads), cells)


def _short(value: float | None) -> str:
    """A number in two digits, so that nine columns fit on a terminal."""
    return digits(value) if value is None or value >= 100 else f"{value:.2g}"


def _versions(score: JsonObject) -> str:
    return "; ".join(f"{package} {number}" for package, number in score["versions"].items())


# CSV -----------------------------------------------------------------------------------------------------------------


def write_tables(result: FinishedRun, folder: Path) -> list[Path]:
    """Write ``folder/tables/*.csv`` and return the paths; ``docs/crosscheck.md`` lists the columns."""
    target = folder / "tables"
    target.mkdir(parents=True, exist_ok=True)
    setups = [{"family": row["family"], **row["setup"], **row} for row in result.summary["setups"]]
    plain = {
        "families": [_families(row) for row in result.summary["families"]],
        "causes": [_causes(row) for row in result.summary["causes"]],
        "setups": [{name: value for name, value in row.items() if name != "setup"} for row in setups],
    }
    for name, rows in plain.items():
        write_csv(target / f"{name}.csv", rows)
    packed = target / "disagreements.csv.gz"

    def write(raw: BinaryIO) -> None:
        # No name and no time in the file's header, so that equal runs give equal bytes.
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
            file.write((",".join(DISAGREEMENTS) + "\n").encode())
            file.writelines(map(str.encode, _disagreements(result.tally)))

    replace(packed, write)
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


def _disagreements(tally: Tally) -> Iterator[str]:
    """Lines of each chunk."""
    for key, chunk in tally.chunks.items():
        columns = [chunk.columns[name].tolist() for name in DISAGREEMENTS[3:]]
        for scene, row, kind, cause, *numbers in zip(*columns, strict=True):
            # Six digits; empty for nan, and for an infinite bound.
            said = [f"{number:.6g}" if math.isfinite(number) else "" for number in numbers]
            place = (key.family, key.seed, key.number, scene, row, KINDS[kind], CAUSES[cause])
            yield ",".join([*map(str, place), *said]) + "\n"


def write_score_csv(scores: Sequence[JsonObject], path: Path) -> None:
    """Write the scoreboard's records; unknown values are left empty."""
    rows = []
    for score in scores:
        row = {name: value for name, value in score.items() if name != "families"}
        row |= {"versions": _versions(score), "limits": "; ".join(score["limits"])}
        row = with_figures_apart(row, ("distance_mm", "normal_deg", "position_mm"))
        rows.append(row | {f"wrong in {family}": score["families"].get(family, "") for family in SCORED_FAMILIES})
    write_csv(path, rows)
