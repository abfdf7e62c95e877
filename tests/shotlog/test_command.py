"""`cylcollide rejudge`: identical or not, one shot in words and with a picture, another policy, bad files."""

import re
import sqlite3
from pathlib import Path

import pytest
from support.logging_server import logged

import cylcollide as cc


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed log of 12 ticks."""
    path = tmp_path_factory.mktemp("a-long-name" * 10) / "match.shots"
    logged(path, 12)
    return path


@pytest.fixture
def rejudge(command):
    """Runs the command in this process; returns its status, stdout and stderr."""
    return lambda *words: command("rejudge", *words)


def test_all_is_judged_again(rejudge, log: Path):
    before = log.read_bytes(), sorted(log.parent.iterdir())
    status, said, _ = rejudge(log, "--jobs", 1)
    assert status == 0
    assert "48 shots in 12 calls, 12 ticks: judged again identically" in said
    assert f"{log}, by cylcollide" in said
    assert (log.read_bytes(), sorted(log.parent.iterdir())) == before


def test_a_shot_is_explained_in_words_and_with_a_picture(rejudge, log: Path, long_path: Path):
    with cc.ShotLog.open(log) as logged:
        hit = next(shot.number for shot in logged if shot.hit)
        miss = next(shot.number for shot in logged if not shot.hit)
    for number, word, name in ((hit, "judged by", "hit"), (miss, "miss: ", "miss.png")):
        picture = (long_path / name).with_suffix(".png")
        status, said, _ = rejudge(log, "--shot", number, "--picture", long_path / name)
        assert status == 0
        assert f"shot {number}, after tick" in said
        assert "'player': 'ann'" in said
        assert word in said
        assert "As logged." in said
        assert f"Picture: {picture}\n" in said
        assert picture.read_bytes().startswith(b"\x89PNG")
    status, _, error = rejudge(log, "--shot", hit, "--picture", long_path / "one.foo")
    assert status == 2
    assert re.fullmatch(r"cylcollide: path: expected a name that ends in .*, got \.foo.*\n", error)


def test_another_policy_is_counted(rejudge, log: Path, tmp_path: Path):
    policy = tmp_path / "policy.json"
    cc.Policy.first_surface(damage={"head": 100.0}, default=0.0).save(policy)
    status, said, _ = rejudge(log, "--jobs", 1, "--what-if", policy)
    assert status == 0
    assert "other policy" in said
    assert "of 48 shots have another limb" in said
    hits, *groups = ((int(a), int(b)) for a, b in re.findall(r"^ *hit[a-z]*(?: group \d+)? +(\d+) +(\d+)", said, re.M))
    assert tuple(map(sum, zip(*groups, strict=True))) == hits
    with cc.ShotLog.open(log) as logged:
        assert hits[0] == sum(bool(shot.hit) for shot in logged) > 0


def test_a_difference_is_shown(rejudge, log: Path, monkeypatch: pytest.MonkeyPatch):
    from cylcollide.characters import judge as room

    monkeypatch.setattr(room, "judge_chords", _turned(room.judge_chords))
    status, said, _ = rejudge(log, "--jobs", 1)
    assert status == 1
    assert "calls differ; the first: shot" in " ".join(said.split())


def _turned(judge):
    """`judge`, but the last shot becomes a miss."""

    def judged(policy, rays, energies, flight, impacts, shots):
        judge(policy, rays, energies, flight, impacts, shots)
        shots.chord[-1] = -1

    return judged


@pytest.mark.parametrize("kind", ["text", "sqlite", "newer", "none", "empty"])
def test_files_that_are_no_logs_are_refused(refused, log: Path, tmp_path: Path, kind: str):
    path, changes = tmp_path / "file", {"sqlite": "CREATE TABLE pages (place)", "newer": "PRAGMA user_version = 7"}
    if kind != "none":
        path.write_bytes({"text": b"no log", "newer": log.read_bytes()}.get(kind, b""))
    if kind in changes:
        file = sqlite3.connect(path, isolation_level=None)
        file.execute(changes[kind])
        file.close()
    line = refused("rejudge", path)
    assert kind != "newer" or "version 7" in line


@pytest.mark.parametrize(
    "options", [["--shot", 48], ["--shot", -1], ["--what-if", "none.json"], ["--shot", "x"], ["--jobs", 0]]
)
def test_bad_options_change_nothing(rejudge, log: Path, options: list[object]):
    status, _, error = rejudge(log, *options)
    assert status == 2
    assert error


@pytest.mark.parametrize(
    "options",
    [
        *(
            ["--shot", 1, *other]
            for other in (["--export", "x"], ["--what-if", "x"], ["--jobs", 1], ["--scheduler", "x"])
        ),
        ["--picture", "x.png"],
        ["--jobs", 1, "--scheduler", "x"],
    ],
)
def test_options_that_would_do_nothing_are_refused_in_one_line(refused, log: Path, options: list[object]):
    line = refused("rejudge", log, *options)
    assert re.match(r"cylcollide: --(shot|jobs) does not go with --|cylcollide: --picture: expected it with", line)


def test_shots_without_a_picture_and_logs_without_a_shot(rejudge, tmp_path: Path):
    world, other = cc.HitWorld(), tmp_path / "empty"
    history = cc.PoseHistory(world)
    history.record(1.0)
    with cc.ShotLog(tmp_path / "log", world, history), cc.ShotLog(other, cc.HitWorld()):
        history.judge_segments([0, 0, 0], [1, 1, 1], cc.Policy.first_surface(), 0.5, on_old="miss")
    status, said, _ = rejudge(tmp_path / "log", "--shot", 0)
    assert status == 0
    assert "No picture: time 0.5 was not kept.\n" in said
    assert rejudge(other, "--shot", 0)[::2] == (2, "cylcollide: shot: expected none, got 0; the log has 0\n")


def test_an_unreachable_cluster_is_one_line(rejudge, log: Path, monkeypatch: pytest.MonkeyPatch):
    from cylcollide.shotlog import command as room

    def executor_of(*_: object) -> None:
        raise OSError("Timed out trying to connect to tcp://nobody:1")

    monkeypatch.setattr(room, "executor_of", executor_of)
    assert rejudge(log, "--scheduler", "tcp://nobody:1")[::2] == (
        2,
        "cylcollide: Timed out trying to connect to tcp://nobody:1\n",
    )


def test_inputs_are_not_overwritten(refused, log: Path, tmp_path: Path):
    policy = tmp_path / "policy.json"
    cc.Policy.first_surface().save(policy)
    (tmp_path / "link").symlink_to(log)
    before = log.read_bytes(), policy.read_bytes()
    for words in (
        ("--export", log), ("--export", tmp_path / "link"), ("--what-if", policy, "--export", policy),
        ("--shot", 0, "--picture", log),
    ):  # fmt: skip
        assert "expected another file than those that are read" in refused("rejudge", log, *words)
    assert (log.read_bytes(), policy.read_bytes()) == before


@pytest.mark.parametrize("name", [":memory:", "file:app.db", "file:app.db?mode=memory", "a?b#c%41", "ä b", "\udcff"])
def test_a_log_is_the_file_of_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also names with a meaning in SQLite, and after a change of the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("app.db").write_bytes(b"of somebody else")
    logged(Path(name), 2)
    assert Path(name).stat().st_size > 1000
    assert Path("app.db").read_bytes() == b"of somebody else"
    with cc.ShotLog.open(name) as shots:
        monkeypatch.chdir("/")
        assert len(shots) == 8
        assert shots.rejudge().identical


@pytest.mark.long
def test_two_jobs_rejudge_identically(rejudge, log: Path):
    assert rejudge(log, "--jobs", 2)[0] == 0


def test_shots_are_exported(rejudge, log: Path, long_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra rejudge")
    status, said, _ = rejudge(log, "--jobs", 1, "--export", long_path / "shots.parquet")
    assert status == 0
    assert f"Shots: {long_path / 'shots.parquet'}\n" in said
    table = parquet.read_table(long_path / "shots.parquet").to_pydict()
    with cc.ShotLog.open(log) as logged:
        assert table["limb"] == [shot.limb for shot in logged]
        assert table["number"] == list(range(48))
