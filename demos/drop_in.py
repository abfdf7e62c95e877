"""The same PyBullet program twice: as it is, and with one line changed so that its shots are exact.

Run: python demos/drop_in.py   (needs pybullet: pip install '.[crosscheck]')
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

PROGRAM = Path(__file__).with_name("falling.py")
LINE = "    gun = world\n"
NEW_LINE = "    from cylcollide.bullet import Mirror; gun = Mirror(world)\n"


def run(source: str) -> list[tuple]:
    names: dict[str, Any] = {"__name__": "falling"}
    exec(compile(source, PROGRAM.name, "exec"), names)
    began = time.perf_counter()
    answers = names["shoot"]()
    print(f"  {time.perf_counter() - began:.2f} s, {sum(answer[0] > 0 for answer in answers)} shots hit a body")
    return answers


def main() -> None:
    source = PROGRAM.read_text()
    if source.count(LINE) != 1:
        raise ValueError(f"{PROGRAM}: expected the line {LINE.strip()!r} once")
    print(f"as it is: {LINE.strip()}")
    theirs = run(source)
    print(f"one line changed: {NEW_LINE.strip()}")
    ours = run(source.replace(LINE, NEW_LINE))

    body, exact = (np.array([answer[0] for answer in answers]) for answers in (theirs, ours))
    points, true_points = (np.array([answer[3] for answer in answers]) for answers in (theirs, ours))
    off = 1000 * np.linalg.norm(points - true_points, axis=1)[(body == exact) & (body >= 0)]
    print(f"PyBullet credits another body, or none, or one too many, in {np.sum(body != exact)} of {len(body)} shots;")
    print(f"where it has the right one its point is off by {np.median(off):.4f} mm (median) to {off.max():.2f} mm")


if __name__ == "__main__":
    main()
