"""Draws docs/figures/bounds.svg: the shrunk, true and grown cylinder in a cut across the axis, and three rays."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import Circle

OFFSETS = {"hit": 0.55, "undecided: exact arithmetic decides": 1.0, "miss": 1.3}
COLOURS = ("#1b7f4d", "#c77700", "#b3261e")
LIMB = "#35507a"
DELTA = 0.12  # enlarged about 10¹³ times


def main() -> None:
    """Draw the picture beside this script."""
    plt.rcParams.update({"svg.hashsalt": "cylcollide", "font.size": 10})
    figure, axes = plt.subplots(figsize=(7.5, 3.6), facecolor="white")
    for radius, label in ((1 + DELTA, "r + δ"), (1.0, "r"), (1 - DELTA, "r − δ")):
        style = "solid" if radius == 1 else (0, (4, 3))
        face = "#e8eef7" if radius == 1 else "none"
        axes.add_patch(Circle((0, 0), radius, facecolor=face, edgecolor=LIMB, linestyle=style))
        axes.annotate(
            label,
            xy=(radius * 0.8, -radius * 0.6),
            xytext=(1.5, -0.95 + 2.5 * (radius - 1)),
            color=LIMB,
            va="center",
            arrowprops={"arrowstyle": "-", "color": LIMB, "linewidth": 0.7},
        )
    for (label, offset), colour in zip(OFFSETS.items(), COLOURS, strict=True):
        axes.annotate("", (2.6, offset), (-2.6, offset), arrowprops={"arrowstyle": "->", "color": colour})
        axes.text(2.7, offset, label, color=colour, va="center")
        for radius in (1 - DELTA, 1 + DELTA):
            if radius > offset:
                half = (radius**2 - offset**2) ** 0.5
                axes.plot([-half, half], [offset, offset], ".", color=colour)
    axes.text(-2.6, 0.3, "the true entry lies\nbetween two dots", color=COLOURS[0], fontsize=8, va="center")
    axes.set(xlim=(-2.7, 5.6), ylim=(-1.35, 1.5), aspect="equal")
    axes.axis("off")
    figure.savefig(Path(__file__).with_suffix(".svg"), bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
