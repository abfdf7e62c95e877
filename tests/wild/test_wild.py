"""In the wild: programs in the manner of published ones, run unedited, with PyBullet's rays and with exact ones.

`programs/` has ten loops written for these tests; their rays per call, steps between calls and scenes are those of
published examples, planners and lidar classes. Each takes a number of steps and prints a sum of its results.
"""

import re
from pathlib import Path

import pytest
from support.bullet_programs import run

PROGRAMS = Path(__file__).parent / "programs"

HUSKY = "husky_lidar"
"""Its rays pass less than 1 mm above settled cubes; PyBullet, with a margin of 1 mm, reports hits."""

NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))


def compared(program, steps, *options):
    """The program's output with exact rays; numbers of rays, calls and differing answers, and the latter by cause."""
    said, errors = run(PROGRAMS / f"{program}.py", steps, options=("--compare", "--mesh", "wrap", *options))
    rays, calls, differ = re.search(r"cylcollide: ([\d,]+) rays in ([\d,]+) calls; .* for ([\d,]+)", errors).groups()
    causes = {cause: int(n.replace(",", "")) for cause, n in re.findall(r"([a-z][a-z\d ]*): ([\d,]+)(?=[,)])", errors)}
    causes.pop("cylcollide", None)
    number = [int(n.replace(",", "")) for n in (rays, calls, differ)]
    assert number[2] == sum(causes.values())
    return said, number, causes


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        *[(name, 4) for name in ("drone_sensors", "mouse_pointer", "racecar_lidar", HUSKY)],
        *[pytest.param(name, 250, marks=[pytest.mark.long, pytest.mark.timeout(1800)]) for name in NAMES],
    ],
)
def test_results_differ_only_by_known_causes(program, steps):
    plain, _ = run(PROGRAMS / f"{program}.py", steps)
    exact, (rays, calls, differ), causes = compared(program, steps)
    assert calls >= steps
    assert "open" not in causes, causes
    assert program == HUSKY or differ < 0.1 * rays
    seen, seen_exactly = (float(re.search(r"[\d.]+$", said.strip())[0]) for said in (plain, exact))
    assert seen > 0
    assert program == HUSKY or seen_exactly == pytest.approx(seen, rel=0.05, abs=differ)


@pytest.mark.parametrize("steps", [4, pytest.param(250, marks=pytest.mark.long)])
def test_a_tolerance_restores_the_hits_of_a_lidar(steps):
    """A mirror with a tolerance of 1 mm also reports the hits that PyBullet reports within its margin."""
    _, (rays, _, lost), causes = compared(HUSKY, steps)
    assert lost > 0.1 * rays
    assert set(causes) == {"within 1 mm"}
    _, (_, _, differ), _ = compared(HUSKY, steps, "--tolerance", 1e-3)
    assert differ < 0.02 * rays
