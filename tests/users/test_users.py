"""Programs as users write them, from the pages of the site alone. The third, a match, is `demos/match.py`."""

import csv
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.bullet_programs import run

from cylcollide import engines

PROGRAMS = Path(__file__).parent / "programs"
NEAR = 1e-9  # metres


def map_of(path, **how):
    """The rows that the lidar wrote, and its standard error."""
    said, errors = run(PROGRAMS / "room_lidar.py", path, **how)
    assert said == "5 scans of 360 beams\n"
    return np.loadtxt(path, delimiter=","), errors


def first_of_the_room(start, end, walls, pillars):
    """Distance of the first wall or pillar along a beam, in the plane; exact up to the last division and root."""
    start, end = ([Fraction(x) for x in point] for point in (start, end))
    way = [e - s for s, e in zip(start, end, strict=True)]
    entries = []
    for middle, half in walls:
        low, high = Fraction(0), Fraction(1)
        for s, w, m, h in zip(start, way, map(Fraction, middle), map(Fraction, half), strict=True):
            edges = sorted([(m - h - s) / w, (m + h - s) / w]) if w else [low, high] if abs(s - m) <= h else [1, 0]
            low, high = max(low, edges[0]), min(high, edges[1])
        if low <= high:
            entries.append(float(low))
    a = sum(w * w for w in way)
    for x, y, radius in pillars:
        off = [start[0] - Fraction(x), start[1] - Fraction(y)]
        b, c = sum(w * o for w, o in zip(way, off, strict=True)), sum(o * o for o in off) - Fraction(radius) ** 2
        if b * b >= a * c and b < 0:
            entries.append(float((-b - Fraction(float(b * b - a * c) ** 0.5)) / a))
    return min(entries) * float(a) ** 0.5


def test_a_lidar_maps_its_room_without_an_edit(tmp_path):
    """With cylcollide every point is on the room's surface; with PyBullet alone points are up to millimetres off."""
    ours, said = map_of(tmp_path / "ours.csv", options=["--compare"])
    theirs, _ = map_of(tmp_path / "theirs.csv")
    room = runpy.run_path(str(PROGRAMS / "room_lidar.py"))
    truth = np.array([first_of_the_room(row[:2], row[2:4], room["WALLS"], room["PILLARS"]) for row in ours])
    error, bullet = (np.abs(scan[:, 5] * room["REACH"] - truth) for scan in (ours, theirs))
    assert len(ours) == len(theirs) == 5 * 360
    assert set(ours[:, 4]) == {float(body) for body in range(8)}, "each wall and pillar is seen"
    assert error.max() < NEAR
    assert bullet.max() > 1e-4
    assert "1,800 rays in 5 calls" in said


def test_engines_compared_in_a_short_program(tmp_path, capsys):
    pytest.importorskip("pybullet")
    runpy.run_path(str(PROGRAMS / "comparison.py"))["main"](str(tmp_path / "table.csv"))
    rows = {row["engine"]: row for row in csv.DictReader((tmp_path / "table.csv").read_text().splitlines())}
    assert rows["cylcollide"] == {"engine": "cylcollide", "missed": "0", "phantom": "0", "distance_mm": "0"}
    assert int(rows["bullet"]["phantom"]) > 100
    missing = capsys.readouterr().out.splitlines()
    assert len(missing) + len(rows) >= len(engines.names()) - 1, "coal casts no rays"
