"""What all charts share: colours, ticks, how many points are drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array, Int64Array

COLORS = {
    "phantom": "#e08a1e",
    "missed": "#3f8fd9",
    "wrong limb": "#b565c9",
    "early": "#e0564a",
    "late": "#2a9d8f",
    "normal": "#7f8ea3",
    "lost": "#8f6a3a",
    "true": "#3aa655",
    "neutral": "#7f8ea3",
}
"""One colour a meaning, readable on white and on near black; ``true`` is the right answer."""


MOST_POINTS = 5_000


MM_TICKS = {-6: "1 nm", -5: "", -4: "", -3: "1 µm", -2: "10 µm", -1: "0.1 mm", 0: "1 mm", 1: "1 cm", 2: "10 cm"}


def thin_out(values: Float64Array, most: int = MOST_POINTS) -> Int64Array:
    """Rows of at most ``most`` values, evenly spaced by rank, so that the extremes and the spread are kept."""
    order = np.argsort(values, kind="stable").astype(np.int64)
    if len(order) <= most:
        return order
    return order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]


def stacked_shares(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str], things: str) -> go.Figure | None:
    """Share of each family's rays that are wrong, a bar a family, stacked by kind; the count stands in the bar.

    Parameters
    ----------
    rows
        Of each family its name, the count of its ``rays`` and of each kind.
    kinds
        In the order in which they are stacked; keys of ``COLORS``.
    things
        What the rays are called.
    """
    rows = [row for row in reversed(rows) if row["rays"] > 0]
    if not rows:
        return None
    labels = [f"all {things}" if row["family"] == "all" else row["family"] for row in rows]
    figure = go.Figure()
    for kind in kinds:
        counts = [int(row[kind.replace(" ", "_")]) for row in rows]
        figure.add_bar(
            name=kind,
            orientation="h",
            y=labels,
            x=[100.0 * count / row["rays"] for count, row in zip(counts, rows, strict=True)],
            text=[f"{count:,}" if count else "" for count in counts],
            customdata=[[count, row["rays"]] for count, row in zip(counts, rows, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            marker_color=COLORS[kind],
            hovertemplate=f"%{{y}}: %{{customdata[0]:,}} {kind} of %{{customdata[1]:,}} (%{{x:.3g}} %)<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_yaxes(dtick=1)
    figure.update_xaxes(title=f"share of the family's {things}", ticksuffix=" %", rangemode="tozero")
    return figure
