"""Draws docs/figures/netcode.svg: a state goes to a client, a shot comes back; when it is judged."""

from pathlib import Path

import matplotlib.pyplot as plt

LINE, MESSAGE, MOMENT = "#33415c", "#00798c", "#b3261e"
SEEN, SENT, RECEIVED, FIRED, NOW = 0.2, 1.1, 1.75, 2.05, 2.75
SERVER, CLIENT = 1.0, 0.0


def main() -> None:
    """Draw the picture beside this script."""
    plt.rcParams.update({"svg.hashsalt": "cylcollide", "font.size": 10})
    figure, axes = plt.subplots(figsize=(7.5, 3.0), facecolor="white")
    for height, who in ((SERVER, "server"), (CLIENT, "client")):
        axes.annotate("", (3.3, height), (-0.05, height), arrowprops={"arrowstyle": "->", "color": LINE})
        axes.text(-0.1, height, who, ha="right", va="center", color=LINE)
    for begin, end, text, place, side in (
        ((SENT, SERVER), (RECEIVED, CLIENT), "state", (1.36, 0.5), "right"),
        ((FIRED, CLIENT), (NOW, SERVER), "shot: view,\nstate, aim", (2.32, 0.55), "right"),
        ((NOW, SERVER), (3.25, 0.25), "event", (3.05, 0.65), "left"),
    ):
        axes.annotate("", end, begin, arrowprops={"arrowstyle": "->", "color": MESSAGE, "linewidth": 1.5})
        axes.text(*place, text, color=MESSAGE, va="center", ha=side)
    for time, text in ((SEEN, "seen:\njudge here"), (SENT, "newest state\nreceived"), (NOW, "now")):
        axes.plot(time, SERVER, "o", color=MOMENT)
        axes.text(time, SERVER + 0.12, text, ha="center", va="bottom", color=MOMENT)
    spans = ((SEEN, SENT, "buffer"), (SENT, RECEIVED, "way down"), (RECEIVED, FIRED, "wait"), (FIRED, NOW, "way up"))
    for begin, end, text in spans:
        axes.annotate(
            "", (begin, -0.4), (end, -0.4), arrowprops={"arrowstyle": "<->", "color": LINE, "shrinkA": 0, "shrinkB": 0}
        )
        axes.text((begin + end) / 2, -0.47, text, ha="center", va="top", color=LINE)
    for time, height in ((SEEN, SERVER), (SENT, SERVER), (RECEIVED, CLIENT), (FIRED, CLIENT), (NOW, SERVER)):
        axes.plot([time, time], [height, -0.4], color=LINE, linewidth=0.7, linestyle=":")
    axes.set(xlim=(-0.6, 3.75), ylim=(-0.7, 1.6))
    axes.axis("off")
    figure.savefig(Path(__file__).with_suffix(".svg"), bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
