"""Runs a PyBullet program with exact ray tests: `python -m cylcollide.bullet [--compare] PROGRAM arguments ...`."""

import argparse
import atexit
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cylcollide.bullet import patching
from cylcollide.bullet.differences import CAUSES, NO_NUMBER, SHELL, TOLERANCE, causes_of, differ, is_unnumbered
from cylcollide.bullet.mirror import Mirror
from cylcollide.bullet.passthrough import FRACTION
from cylcollide.bullet.poses import in_world, link_frames
from cylcollide.bullet.tuples import MISS, RayTestResult

LIMIT = "limit"
"""The cause of rays that PyBullet does not answer: it takes at most 16,383 in a call."""

HIT_NUMBER = "hit number"
"""The cause with `reportHitNumber`: PyBullet counts the hits of a ray in no defined order, and others among them."""

PHANTOM, INSIDE = "within 1 mm", "inside"
"""The causes that do not depend on the order of hits."""

FEW = 5
"""How many rays with different answers are printed."""


class ProgramComparison:
    """Repeats each call in PyBullet, counts the answers that differ in body or link by cause, and lists the first."""

    def __init__(self) -> None:
        self.rays, self.calls, self.causes = 0, 0, Counter[str]()
        self.first: list[str] = []
        self.same, self.apart, self.farthest = 0, 0, 0.0  # hits of one link, how many apart, largest in metres

    def __call__(self, mirror: Mirror, given: dict[str, Any], ours: tuple[RayTestResult, ...]) -> None:
        """Compare one call."""
        try:
            theirs = mirror._client.rayTestBatch(**given)
        except mirror._client.api.error:  # too many rays
            theirs = ()
        self.rays, self.calls = self.rays + len(ours), self.calls + 1
        self.causes[LIMIT] += len(ours) - len(theirs)
        both = list(zip(ours, theirs, strict=False))
        starts, ends = (np.asarray(given[name], np.float64).reshape(-1, 3) for name in patching.RAYS)
        same = [i for i, (a, b) in enumerate(both) if a[:2] == b[:2] and a[0] >= 0]
        early = np.array([ours[i][FRACTION] - theirs[i][FRACTION] for i in same])
        apart = np.abs(early) * np.linalg.norm(ends[same] - starts[same], axis=1)
        self.same, self.apart = self.same + len(same), self.apart + int((apart > SHELL).sum())
        self.farthest = max([self.farthest, *apart.tolist()])
        rows = [i for i, (a, b) in enumerate(both) if differ(a, b)]
        if rows:
            starts, ends = starts[rows], ends[rows]
            body, link = given.get("parentObjectUniqueId", -1), given.get("parentLinkIndex", -1)
            if body >= 0:  # both ends are in the frame of that body
                frame = link_frames(mirror._client, {body: [link]})[0]
                starts, ends = in_world(frame, starts, ends)
            causes = causes_of(mirror, starts, ends, [ours[i] for i in rows], [theirs[i] for i in rows])
            if given.get("reportHitNumber", -1) >= 0:
                both_hit = [min(ours[i][0], theirs[i][0]) >= 0 for i in rows]
                causes = [
                    HIT_NUMBER if cause == "open" or (hit and cause not in (PHANTOM, INSIDE)) else cause
                    for hit, cause in zip(both_hit, causes, strict=True)
                ]
            self.causes.update(causes)
            for k, cause in enumerate(causes[: FEW - len(self.first)]):
                answers = f"PyBullet {_words(theirs[rows[k]])}, exact {_words(ours[rows[k]])}"
                self.first.append(f"  {cause}: rayTest({starts[k].tolist()}, {ends[k].tolist()}): {answers}")

    def __str__(self) -> str:
        words = ", ".join(
            f"{cause}: {self.causes[cause]:,}"
            for cause in (*CAUSES, TOLERANCE, HIT_NUMBER, NO_NUMBER, LIMIT)
            if self.causes[cause]
        )
        differ = f"PyBullet's answer differs for {self.causes.total():,}" + (f" ({words})" if words else "")
        line = f"cylcollide: {self.rays:,} rays in {self.calls:,} calls; {differ}"
        if self.apart:
            far = f"more than {1e3 * SHELL:g} mm from PyBullet's, at most {1e3 * self.farthest:.3g} mm"
            line += f"; of {self.same:,} hits of the same link {self.apart:,} are {far}"
        return "\n".join([line, *self.first])


def _words(answer: RayTestResult) -> str:
    what = "a solid without a number" if is_unnumbered(answer) else f"body {answer[0]}, link {answer[1]}"
    return "misses" if answer == MISS else f"hits {what} at {answer[FRACTION]:.9g}"


def main() -> None:
    """Run the program, with its own arguments, output and exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m cylcollide.bullet",
        description="Run a PyBullet program, unedited: with exact answers of rayTest and rayTestBatch.",
        epilog="Example: python -m cylcollide.bullet --compare demos/lidar.py",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also cast every ray in PyBullet; print at exit which answers differ, and why",
    )
    parser.add_argument("--mesh", choices=("wrap", "raise", "skip"), help="treatment of meshes, as in Mirror")
    policies = ("ignore", "hit", "exit", "bullet")
    parser.add_argument(
        "--inside", choices=policies, default="ignore", help="treatment of rays that start in a shape, as in Mirror"
    )
    parser.add_argument("--tolerance", type=float, default=0.0, help="growth of every shape, as in Mirror")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args()
    if not Path(options.program).is_file():
        parser.error(f"{options.program}: expected a Python file")
    sys.argv = sys.argv[sys.argv.index(options.program) :]
    sys.path[0] = str(Path(options.program).resolve().parent)
    try:  # never undone: threads may outlive this one
        patching.patch(mesh=options.mesh, inside=options.inside, tolerance=options.tolerance)
    except ValueError as error:
        parser.error(str(error))
    if options.compare:
        comparison = ProgramComparison()
        patching.observers.append(comparison)
        atexit.register(lambda: print(comparison, file=sys.stderr))  # runs after the program's own exit handlers
    _run(Path(options.program).absolute())


def _run(program: Path) -> None:
    """Run a file as `__main__`, permanently: its threads and exit handlers look names up there."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = str(program)
    exec(compile(program.read_bytes(), program, "exec"), vars(main))  # the user's program


if __name__ == "__main__":
    main()
