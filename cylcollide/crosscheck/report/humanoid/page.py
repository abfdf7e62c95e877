"""The report a person reads: one HTML file that needs no network, no server and no other file to be looked at."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from cylcollide.crosscheck import number_format
from cylcollide.crosscheck.generate.motion import load_motions
from cylcollide.crosscheck.judge.result import CrosscheckResult
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.html import Panel, as_json, bare
from cylcollide.crosscheck.report.humanoid import sentences as humanoid_sentences
from cylcollide.crosscheck.report.humanoid.charts import figures
from cylcollide.crosscheck.report.humanoid.close_up import section
from cylcollide.crosscheck.report.humanoid.view_3d import scene
from cylcollide.crosscheck.report.template_loader import template
from cylcollide.crosscheck.report.worst import WorstRay, worst_rays


def write_report(result: CrosscheckResult, folder: Path) -> None:
    """Write ``folder/index.html``; links to ``repro/``, ``summary.json`` and ``rays.npz`` expect them beside it.

    Parameters
    ----------
    result
        What the cross-check found; families without hits and a run without disagreements are fine.
    folder
        Where to write; made if needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(report_html(result), encoding="utf-8")


def report_html(result: CrosscheckResult) -> str:
    """Return the page as text."""
    worst = worst_rays(result)
    page = template("index.html.j2", escape=True, fixed=number_format.fixed)
    return page.render(
        title=humanoid_sentences.title(result),
        verdict=humanoid_sentences.verdict(result),
        engine=result.engine,
        seed=result.seed,
        seconds=result.seconds,
        rechecked=result.rechecked,
        versions=result.versions,
        rows=result.rows,
        colors=COLORS,
        tiles=_tiles(result),
        panels=_panels(result),
        worst=[_worst_row(result, ray) for ray in worst],
        scene=as_json(_scene(result, worst)),
        command=_command(result),
        plotly=Markup(get_plotlyjs()),
    )


def _tiles(result: CrosscheckResult) -> list[dict[str, str]]:
    """The five numbers at the top."""
    total, early = result.rows[-1], result.rows[-1].early_mm
    wrong = humanoid_sentences.wrong_count(total)
    proved = f"all {wrong:,}" if total.proved == wrong > 0 else f"{total.proved:,} of {wrong:,}"
    return [
        {"label": "phantom hits", "value": f"{total.phantom:,}", "color": "phantom"},
        {"label": "missed", "value": f"{total.missed:,}", "color": "missed"},
        {"label": "wrong limb", "value": f"{total.wrong_limb:,}", "color": "wrong-limb"},
        {
            "label": f"early at worst, {number_format.length(early[0] / 1e3)} in the median",
            "value": number_format.length(early[2] / 1e3),
            "color": "early",
        },
        {"label": "disagreements proved", "value": proved, "color": "true"},
    ]


def _panels(result: CrosscheckResult) -> list[Panel]:
    """Every figure with its title and its words."""
    agreed, plots = result.agreed, figures(result)
    said = {
        "distance": (
            "Distance error of grazing hits",
            humanoid_sentences.graze_words(result, abs(agreed.distance_error), number_format.length, "distance error"),
        ),
        "normal": (
            "Normal error of grazing hits",
            humanoid_sentences.graze_words(result, agreed.normal_error, number_format.angle, "normal's error"),
        ),
        "family": ("Wrong answers by family", humanoid_sentences.family_words(result)),
        "phantom": ("Phantom hits by gap to the limb", humanoid_sentences.phantom_words(result)),
        "early": ("How early the early hits are", humanoid_sentences.early_words(result)),
    }
    drawn = {name: Markup("") if plot is None else as_json(bare(plot)) for name, plot in plots.items()}
    return [Panel(name, *said[name], drawn[name]) for name in said]


def _worst_row(result: CrosscheckResult, ray: WorstRay) -> dict[str, Any]:
    """One of the worst rays with its sentences."""
    length = math.dist(ray.start, ray.end)
    return asdict(ray) | {
        "script": ray.script,
        "size": number_format.length(ray.severity),
        "text": humanoid_sentences.headline(result, ray),
        "limb": result.poses.limb_names[ray.limbs[-1]].replace("_", " "),
        "after_true": _after(ray.fraction_true * length),
        "after_engine": _after(ray.fraction_engine * length),
    }


def _after(metres: float) -> str:
    """Where on its path a bullet hits, to a hundredth of a millimetre."""
    return "no hit" if math.isnan(metres) else f"{metres:.5f} m"


def _command(result: CrosscheckResult) -> str:
    """The command line that finds the same again."""
    motions = list(dict.fromkeys(result.poses.motion))
    chosen = [] if motions == list(load_motions()) else [f"--motion {name}" for name in motions]
    return " ".join(["cylcollide crosscheck", f"--rays {result.rays}", f"--seed {result.seed}", *chosen])


def _scene(result: CrosscheckResult, worst: list[WorstRay]) -> dict[str, Any]:
    """The 3D view, and beside it the close-up of each ray."""
    drawn = scene(result.poses, worst)
    for view, ray in zip(drawn["rays"], worst, strict=True):
        view["section"] = bare(section(result, ray))
    return drawn
