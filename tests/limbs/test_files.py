"""Files of limbs: a saved file loads unchanged, and any other file is refused."""

import copy
import io
import json
import os
import random
import re
import signal
import stat
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mixed_queries import mixed_limbs

import cylcollide as cc
from cylcollide.process.files import write_text

N, LAST = 24, int(max(cc.Shape))
NAMES = ["", "left arm", "ä\u0000", "tail\u0000\u0000", "\ud800", '"quoted"', *(f"limb {i}" for i in range(6, N))]


@pytest.fixture
def limbs() -> cc.Limbs:
    """Return limbs of every shape, with names that text arrays cannot hold."""
    given = mixed_limbs(N, np.random.default_rng(3), 4.0)
    return cc.Limbs(given._table, np.arange(N, dtype=np.int32), tuple(NAMES))


@pytest.fixture
def columns(limbs: cc.Limbs, tmp_path: Path) -> dict[str, Any]:
    """Return the columns of a good file."""
    limbs.save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("name", ["limbs.npz", "limbs", "limbs.v2", "in.npz.old"])
def test_save_and_load_use_one_name(limbs: cc.Limbs, tmp_path: Path, name: str):
    limbs.save(tmp_path / name)
    assert cc.Limbs.load(tmp_path / name) == limbs
    assert cc.Limbs.load(str(tmp_path / name)).names == tuple(NAMES)
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]
    assert stat.S_IMODE(next(tmp_path.iterdir()).stat().st_mode) == 0o666 & ~current_umask()


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_no_limbs_at_all(limbs: cc.Limbs, tmp_path: Path):
    limbs[:0].save(tmp_path / "none")
    assert len(cc.Limbs.load(tmp_path / "none")) == 0


def test_older_files_are_read(columns: dict[str, Any], limbs: cc.Limbs, tmp_path: Path):
    """In older files names are an array of text."""
    np.savez(tmp_path / "old.npz", **{**columns, "names": np.array([f"limb {i}" for i in range(N)])})
    assert cc.Limbs.load(tmp_path / "old.npz").names[5] == "limb 5"
    assert np.array_equal(cc.Limbs.load(tmp_path / "old.npz").p1, limbs.p1)


def test_a_failed_save_leaves_the_old_file(limbs: cc.Limbs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    limbs.save(tmp_path / "limbs")

    def fail(stream: Any, **_: Any) -> None:
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match=r"No space .*limbs"):
        limbs[:3].save(tmp_path / "limbs")
    assert cc.Limbs.load(tmp_path / "limbs") == limbs
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
def test_links_and_pipes_are_not_replaced(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for text in ("old and long", "new"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() == text
    os.mkfifo(tmp_path / "pipe")
    reads = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "said")
    assert os.read(reads, 100) == b"said"
    os.close(reads)


@pytest.mark.parametrize("path", ["", "/", Path()])
def test_a_path_without_a_name(limbs: cc.Limbs, path: str | Path):
    for call in (limbs.save, cc.Limbs.load, cc.RayHits.load):
        with pytest.raises(ValueError, match="path: expected the name of a file, got '"):
            call(path)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        cc.Limbs.load(tmp_path / "nowhere")


def put(name: str, row: int, value: Any) -> tuple[str, Any]:
    def change(column: Any) -> Any:
        column = column.copy()
        column[row] = value
        return column

    return name, change


BAD = {
    "p1 nan": (*put("p1", 2, np.nan), r"column p1: expected finite.*row 2\b"),
    "no axis": ("p2", lambda p2: p2 * 0.0, r"column p\d: "),
    "p1 too short": ("p1", lambda p1: p1[:-1], rf"column p1: expected {N} rows"),
    "p1 of planes": ("p1", lambda p1: p1[:, :2], r"column p1: expected shape \(n, 3\)"),
    "negative radius": (*put("radius", 4, -1.0), r"column radius: expected > 0.*got -1.0 in row 4\b"),
    "one radius for all": ("radius", lambda r: r[0], r"shape \(\) in column radius"),
    "a wall of nothing": (*put("radius2", 4, 10.0), r"column radius2: expected less than .*column radius, got 10.0"),
    "a radius too many": (*put("radius2", 0, 0.5), r"0.5 in column radius2, row 0, where a cylinder has 0"),
    "an unknown shape": (*put("kind", 1, LAST + 1), rf"column kind: expected 0 to {LAST}, got {LAST + 1} in row 1\b"),
    "shapes in a square": ("kind", lambda kind: kind.reshape(2, -1), r"shape \(2, 12\) in column kind"),
    "a box that is not there": (*put("box", N - 1, 3), r"column box: expected -1 to 2, got 3 in row 23\b"),
    "a cylinder with a box": (*put("box", 0, 0), r"0 in column box, row 0, which is not a box"),
    "a box without a box": (*put("box", N - 1, -1), r"-1 in column box, row 23, which is a box"),
    "no boxes": ("boxes", lambda boxes: boxes[:0], r"column box: expected -1 to -1"),
    "boxes of six": ("boxes", lambda boxes: boxes[:, :6], r"shape \(3, 6\) of float64 in column boxes"),
    "a flat box": ("boxes", lambda boxes: boxes * ([1.0] * 11 + [0.0]), r"column boxes for row 21, which is no box"),
    "a box of no axes": ("boxes", lambda boxes: boxes + ([np.nan] * 9 + [0.0] * 3), r"row 21, which is no box"),
    "a tiny box": ("boxes", lambda boxes: boxes * ([1.0] * 9 + [1e-200] * 3), r"row 21, which is no box"),
    "p1 beyond the range": (*put("p1", 2, 1e200), r"column p1: expected finite.*2\*\*500.*row 2\b"),
    "radius below the range": (*put("radius", 4, 1e-200), r"column radius: expected > 0.*2\*\*-500.*row 4\b"),
    "a sheared box": ("boxes", lambda boxes: boxes + 1e-9, r"column boxes for row 21, which is no box"),
    "a mask of 33 bits": ("mask", lambda m: m.astype(np.int64) << 32, r"column mask: expected 0 to 4294967295"),
    "a character below -1": (*put("character", 3, -2), r"column character: expected -1 to .*row 3\b"),
    "hit groups of another length": ("hit_group", lambda h: h[1:], r"shape \(23,\) in column hit_group for 24"),
    "names that are numbers": ("names", lambda _: as_bytes(list(range(N))), r"column names that does not hold"),
    "names cut off": ("names", lambda names: names[:-5], r"damaged names"),
    "objects": ("names", lambda _: np.array([{}] * N, object), r"cannot be read"),
}  # fmt: skip
"""Column, change and pattern of the message."""


def as_bytes(names: list[Any]) -> Any:
    return np.frombuffer(json.dumps(names).encode(), np.uint8)


@pytest.mark.parametrize("case", BAD)
def test_limbs_no_constructor_accepts(columns: dict[str, Any], tmp_path: Path, case: str):
    name, change, message = BAD[case]
    file = tmp_path / "bad.npz"
    np.savez(file, **{**columns, name: change(columns[name])})
    with pytest.raises(ValueError, match=rf"^{re.escape(str(file))}: .*{message}"):
        cc.Limbs.load(file)


@pytest.mark.parametrize("name", ["p1", "kind", "boxes", "names", "mask"])
def test_a_column_that_is_missing(columns: dict[str, Any], tmp_path: Path, name: str):
    np.savez(tmp_path / "bad.npz", **{key: column for key, column in columns.items() if key != name})
    with pytest.raises(ValueError, match=f"without the column '{name}'"):
        cc.Limbs.load(tmp_path / "bad.npz")


def foreign() -> dict[str, bytes]:
    array = io.BytesIO()
    np.save(array, np.arange(3))
    other = io.BytesIO()
    np.savez(other, weights=np.ones(3))
    return {"empty": b"", "text": b"p1,p2,radius\n", "one array": array.getvalue(), "another archive": other.getvalue()}


@pytest.mark.parametrize("kind", foreign())
def test_foreign_files(tmp_path: Path, kind: str):
    file = tmp_path / "limbs.npz"
    file.write_bytes(foreign()[kind])
    with pytest.raises(ValueError, match=rf"^{re.escape(str(file))}: expected a file that Limbs.save wrote"):
        cc.Limbs.load(file)


def damaged(good: bytes, count: int) -> list[bytes]:
    """Return contents with a bit flipped, truncated, or with two parts swapped."""
    dice, files = random.Random(5), []
    for _ in range(count):
        k, j = sorted(dice.sample(range(len(good)), 2))
        files.append(good[:k] + bytes([good[k] ^ (1 << dice.randrange(8))]) + good[k + 1 :])
        files.append(good[:k])
        files.append(good[j:] + good[k:j] + good[:k])
    return files


@pytest.mark.parametrize("count", [50, pytest.param(20_000, marks=pytest.mark.long)])
def test_damaged_files(limbs: cc.Limbs, tmp_path: Path, count: int):
    """Loading gives the same limbs, if the damaged bytes do not matter, or a ValueError that names the file."""
    limbs.save(tmp_path / "good.npz")
    file, messages = tmp_path / "bad.npz", []
    for content in damaged((tmp_path / "good.npz").read_bytes(), count):
        file.write_bytes(content)
        try:
            assert cc.Limbs.load(file) == limbs
        except ValueError as error:
            messages.append(str(error))
    assert len(messages) > count
    assert not [message for message in messages if not message.startswith(f"{file}: ")]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals")
@pytest.mark.parametrize("place", ["mkstemp", "savez_compressed", "chmod", "unlink"])
def test_an_interrupt_anywhere_in_a_save_leaves_no_other_file(
    limbs: cc.Limbs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    """Also directly after the unfinished file is made, and directly before it is removed."""

    class Stop(BaseException):
        pass

    def stop(*_: Any) -> None:
        raise Stop

    owner = {"mkstemp": tempfile, "savez_compressed": np}.get(place, os)
    function = getattr(owner, place)

    def signalled(*arguments: Any, **keywords: Any) -> Any:
        if place == "unlink":
            signal.raise_signal(signal.SIGALRM)
        result = function(*arguments, **keywords)
        signal.raise_signal(signal.SIGALRM)
        return result

    limbs.save(tmp_path / "limbs")
    monkeypatch.setattr(owner, place, signalled)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Stop):
            limbs[:2].save(tmp_path / "limbs")
    finally:
        signal.signal(signal.SIGALRM, before)
    wait_for_saves(tmp_path)
    assert cc.Limbs.load(tmp_path / "limbs") in (limbs, limbs[:2])


def wait_for_saves(folder: Path) -> None:
    """Wait until the background work of an interrupted save has left one file."""
    for _ in range(1000):
        if [path.name for path in folder.iterdir()] == ["limbs.npz"]:
            return
        time.sleep(0.01)
    pytest.fail(f"left over: {list(folder.iterdir())}")


@pytest.mark.parametrize("how", ["other method", "entries that overlap"])
def test_archives_that_expand_without_bound_are_refused(columns: dict[str, Any], tmp_path: Path, how: str):
    """Deflate makes at most 1032 bytes of one; other methods, and entries that share their bytes, make any number."""
    path = tmp_path / "large.npz"
    method = zipfile.ZIP_BZIP2 if how == "other method" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, column in (columns | {"more": np.zeros(100_000)}).items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, column)
        if how == "entries that overlap":
            last = archive.getinfo("more.npy")
            for number in range(300):
                copied = copy.copy(last)
                copied.filename = f"more{number}.npy"
                archive.filelist.append(copied)
    with pytest.raises(ValueError, match=r"large\.npz: expected a file that Limbs\.save wrote, .* bytes cannot hold"):
        cc.Limbs.load(path)
