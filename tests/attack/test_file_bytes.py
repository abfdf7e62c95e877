"""Files of limbs with bytes changed inside the archive, where no checksum detects it: ValueError, or valid limbs.

An archive's own checksums detect nearly every change of its bytes (`tests/limbs/test_files.py`). Here columns are
removed, or their bytes are changed, swapped or cut off, and packed again with valid checksums. A child process reads
the files, and runs every query on the limbs that it accepts.
"""

import json
from pathlib import Path

import pytest
from support.check_cylinders import sized
from support.package import output_of

pytestmark = pytest.mark.attack

READER = """
import json, sys, warnings, zipfile
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.mixed_queries import mixed_limbs, segments

warnings.simplefilter("error")
seed, count, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(seed)
limbs = mixed_limbs(24, rng, 4.0)
limbs.save(file)
with zipfile.ZipFile(file) as archive:
    members = {{name: archive.read(name) for name in archive.namelist()}}
start, end = segments(rng, 40, 4.0)

def changed(content):
    k, j = sorted(rng.integers(0, len(content), 2).tolist())
    header = rng.integers(0, min(len(content), 130))
    at = header if rng.random() < 0.5 else k
    byte = bytes([int(rng.choice([content[at] ^ (1 << int(rng.integers(8))), *b"\\x00\\xff09-,()", 48 + k % 10]))])
    word = np.array([rng.choice([np.nan, np.inf, -1.0, 5e-324, 1e200, -0.0, 2.0**31, 2.0**63])]).tobytes()
    whole = (k - k % 8) if k > 128 else k
    return [
        content[:at] + byte + content[at + 1 :],
        content[:whole] + word + content[whole + 8 :],
        content[:k],
        content[:k] + content[j:],
        content[j:] + content[k:j] + content[:k],
        content + content[k:j],
        members[str(rng.choice(list(members)))],
        b"",
    ][int(rng.choice(8, p=[0.4, 0.3, 0.06, 0.06, 0.06, 0.06, 0.05, 0.01]))]

seen = {{"same": 0, "other limbs": 0, "refused": 0}}
for _ in range(count):
    spoiled = dict(members)
    for name in rng.choice(list(members), int(rng.integers(1, 3)), replace=False).tolist():
        spoiled[name] = changed(spoiled[name])
    if rng.random() < 0.05:
        del spoiled[str(rng.choice(list(members)))]
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in spoiled.items():
            archive.writestr(name, content)
    try:
        taken = cc.Limbs.load(file)
    except (ValueError, OSError) as error:
        assert str(error).startswith(file + ": "), error
        seen["refused"] += 1
        continue
    seen["same" if taken == limbs else "other limbs"] += 1
    world = cc.HitWorld(taken)
    hits, chords = world.cast_segments(start, end), world.chords_segments(start, end)
    assert np.isfinite(hits.position[hits.hit]).all() and np.isfinite(hits.normal[hits.hit]).all()
    assert np.isfinite(chords.thickness).all()
    assert len(taken) == 0 or ((0 <= hits.limb[hits.hit]) & (hits.limb[hits.hit] < len(taken))).all()
    world.contains_points(start)
    taken.classify_points(np.resize(start, (len(taken), 3)))
    taken.save(file)
    assert cc.Limbs.load(file) == taken
print(json.dumps(seen))
"""


@pytest.mark.parametrize(
    ("seed", "count"),
    [(1, sized(400)), *(pytest.param(k, 20_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)]) for k in (2, 3))],
)
def test_bytes_behind_the_checksums(seed: int, count: int, tmp_path: Path):
    script = READER.format(tests=str(Path(__file__).parents[1]))
    seen = json.loads(output_of("-X", "faulthandler", "-c", script, seed, count, tmp_path / "limbs.npz"))
    print(f"seed {seed}: {seen}")
    assert min(seen["refused"], seen["other limbs"]) > count // 40, seen
