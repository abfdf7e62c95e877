"""Files of limbs with bytes changed inside the archive, where no checksum detects it: ValueError, or valid limbs.

An archive's own checksums detect nearly every change of its bytes (`tests/limbs/test_files.py`). Here columns are
removed, or their bytes are changed, swapped or cut off, and packed again with valid checksums. Accepted limbs answer
every query.
"""

import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.check_cylinders import sized
from support.mixed_queries import mixed_limbs, segments

import cylcollide as cc

pytestmark = pytest.mark.attack


def changed(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A column's bytes with one kind of damage, or another column's."""
    k, j = sorted(rng.integers(0, len(content), 2).tolist())
    header = rng.integers(0, min(len(content), 130))
    at = header if rng.random() < 0.5 else k
    byte = bytes([int(rng.choice([content[at] ^ (1 << int(rng.integers(8))), *b"\x00\xff09-,()", 48 + k % 10]))])
    word = np.array([rng.choice([np.nan, np.inf, -1.0, 5e-324, 1e200, -0.0, 2.0**31, 2.0**63])]).tobytes()
    whole = (k - k % 8) if k > 128 else k
    return [
        content[:at] + byte + content[at + 1 :],
        content[:whole] + word + content[whole + 8 :],
        content[:k],
        content[:k] + content[j:],
        content[j:] + content[k:j] + content[:k],
        content + content[k:j],
        others[rng.integers(len(others))],
        b"",
    ][int(rng.choice(8, p=[0.4, 0.3, 0.06, 0.06, 0.06, 0.06, 0.05, 0.01]))]


def check_answers(limbs: cc.Limbs, file: Path, start: np.ndarray, end: np.ndarray) -> None:
    """Assert that limbs answer with finite numbers, and are read again as written."""
    world = cc.HitWorld(limbs)
    hits, chords = world.cast_segments(start, end), world.chords_segments(start, end)
    assert np.isfinite([hits.position[hits.hit], hits.normal[hits.hit]]).all()
    assert np.isfinite(chords.thickness).all()
    assert np.isin(hits.limb[hits.hit], np.arange(len(limbs))).all()
    world.contains_points(start)
    limbs.classify_points(np.resize(start, (len(limbs), 3)))
    limbs.save(file)
    assert cc.Limbs.load(file) == limbs


@pytest.mark.parametrize(
    ("seed", "count"),
    [(1, sized(300)), *(pytest.param(k, 20_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)]) for k in (2, 3))],
)
def test_bytes_behind_the_checksums(seed: int, count: int, tmp_path: Path):
    rng, file, seen = np.random.default_rng(seed), tmp_path / "limbs.npz", Counter[str]()
    limbs = mixed_limbs(24, rng, 4.0)
    limbs.save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    start, end = segments(rng, 40, 4.0)
    for _ in range(count):
        spoiled = dict(members)
        for name in rng.choice(list(members), int(rng.integers(1, 3)), replace=False).tolist():
            spoiled[name] = changed(spoiled[name], [*members.values()], rng)
        if rng.random() < 0.05:
            del spoiled[str(rng.choice(list(members)))]
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in spoiled.items():
                archive.writestr(name, content)
        try:
            taken = cc.Limbs.load(file)
        except (ValueError, OSError) as error:
            seen["refused" if str(error).startswith(f"{file}: ") else f"not about the file: {error}"] += 1
        else:
            seen["same" if taken == limbs else "other limbs"] += 1
            check_answers(taken, file, start, end)
    print(f"seed {seed}: {seen}")
    assert set(seen) <= {"same", "other limbs", "refused"}, seen
    assert min(seen["refused"], seen["other limbs"]) > count // 40, seen
