"""Spoiled files of every format but that of limbs: a read object works, or a ValueError begins with the file's name.

A child process reads them, since parsers of other projects are involved: it must neither crash nor hang.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.check_cylinders import sized
from support.package import ABOVE_PACKAGE, run_python
from support.spoiled_files import FORMATS

pytestmark = pytest.mark.attack

READER = """
import faulthandler, json, sys, warnings
from pathlib import Path
sys.path[:0] = {paths!r}
import numpy as np
from support.spoiled_files import FORMATS, spoiled

warnings.simplefilter("error")
names, seed, count, folder = sys.argv[1].split(), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])

def read_spoiled(name):
    content, read, use = FORMATS[name]
    file, good, rng, seen = folder / name, content(), np.random.default_rng(seed), {{"read": 0, "refused": 0}}
    file.write_bytes(good)
    use(read(file))
    for k in range(count):
        faulthandler.dump_traceback_later(60, exit=True)
        file.write_bytes(spoiled(good, rng))
        try:
            thing = read(file)
        except ValueError as error:
            assert str(error).startswith(str(file)), error
            seen["refused"] += 1
        else:
            use(thing)
            seen["read"] += 1
    file.unlink()
    return seen

print(json.dumps({{name: read_spoiled(name) for name in names}}))
"""


OWN = ("rig.json", "policy.json", "order.json", "ray.json", "clip.bvh", "walk.txt", "robot.urdf")
"""Formats that only this project's parsers read."""
EXTRAS = {".xml": "mujoco", ".gltf": "pygltflib", ".glb": "pygltflib"}


@pytest.mark.parametrize("name", FORMATS)
def test_missing_files(name: str, tmp_path: Path):
    if name not in OWN:
        pytest.importorskip(EXTRAS[Path(name).suffix])
    _, read, _ = FORMATS[name]
    with pytest.raises(FileNotFoundError, match=name):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("names", "seed", "count"),
    [
        (OWN, 1, sized(25)),
        *(
            pytest.param([name], seed, 10_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id=f"{name}-{seed}")
            for name in FORMATS
            for seed in (2, 3)
        ),
    ],
)
def test_spoiled_files(names: Sequence[str], seed: int, count: int, tmp_path: Path):
    for name in names:
        if name not in OWN:
            pytest.importorskip(EXTRAS[Path(name).suffix])
    script = READER.format(paths=[str(ABOVE_PACKAGE), str(Path(__file__).parents[1])])
    run = run_python("-X", "faulthandler", "-c", script, " ".join(names), seed, count, tmp_path, cwd=tmp_path)
    left = {path.name: path.read_bytes()[:4000] for path in tmp_path.iterdir()} if run.returncode else ""
    assert run.returncode == 0, f"seed {seed}: {run.stdout}{run.stderr[-3000:]}\n{left}"
    assert run.stderr == ""
    print(f"seed {seed}: {run.stdout}")
    for seen in json.loads(run.stdout).values():
        assert min(seen.values()) > count // 100, run.stdout
