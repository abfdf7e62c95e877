"""Files given to ``cylcollide replay``: any content gives a table or one line, never a traceback."""

import json

import numpy as np
import pytest
from support.cases.one_case import RECORD

from cylcollide.crosscheck.cases import case, mirror_ray
from cylcollide.crosscheck.cases.case import Case, read_chosen

DEEP = 100_000
OTHER = json.dumps(RECORD | {"row": 1})
"""A case at another place: for two cases at one place all engines would run, which takes a second."""
NESTED = "[" * 40 + "]" * 40
AWKWARD = (
    *("null", "true", "false", "0", "-1", "1", "7", "0.5", "-0.5", "1e308", "-1e308", "5e-324", "1e-200", "1e15"),
    *(f"1{'0' * 30}", f"1{'0' * 400}", f"-1{'0' * 400}", "1e400", "NaN", "Infinity", "-Infinity"),
    *('""', '"x"', '"\\u0000\\u001b[31m[/bold]\\ud800"', '"1"', "[]", "[[]]", "[1]", "[0.1, 0.2, 0.3]", "{}"),
    *('{"a": 1}', NESTED, json.dumps("y" * 10_000)),
)
"""JSON values, each of which is wrong in some field."""


@pytest.fixture
def replay(command):
    """A function that replays a file and returns its status and its lines on standard error."""

    def run(file):
        status, _, said = command("replay", file)
        return status, said.splitlines()

    return run


def places(value, path=()):
    """Every path in a record; of a list only the first item, which stands for the others."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*path, name))


def put(record, path, text):
    """The record as JSON, with other text at a path."""
    copy = json.loads(json.dumps(record))
    at = copy
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = "put here"
    return json.dumps(copy).replace('"put here"', text)


def test_the_record_is_a_case_that_replays(replay, tmp_path):
    (tmp_path / "good.json").write_text(f"[{json.dumps(RECORD)}, {OTHER}]")
    assert replay(tmp_path / "good.json") == (0, [])
    assert set(RECORD) == set(Case.__dataclass_fields__)


def test_each_written_file_is_named_in_one_line(command, long_path, monkeypatch):
    monkeypatch.setattr("cylcollide.crosscheck.cases.recast.answers_apart", lambda names, _: dict.fromkeys(names, "no"))
    file, small, script = (long_path / name for name in ("cases.json", "one.json", "one.py"))
    file.write_text(json.dumps([RECORD]))
    status, said, _ = command("replay", file, "--out", small, "--repro", script)
    assert status == 0
    assert said.endswith(f"Case: {small}\nScript: {script}\n")


PLACES = list(places(RECORD))[1:]


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_any_value_in_any_field_is_answered_or_refused_in_one_line(replay, tmp_path, path, step):
    """By default each field gets an eighth of the values, and each value is put into an eighth of the fields."""
    refused, values = 0, AWKWARD[PLACES.index(path) % step :: step]
    for number, text in enumerate(values):
        file = tmp_path / f"{number}.json"
        one = put(RECORD, path, text)
        file.write_text(f"[{one}, {OTHER}]")
        status, lines = replay(file)
        refused += status == 2
        assert len(lines) == (status == 2), (text, lines)
        assert status in (0, 1, 2)
        assert all(line.startswith("cylcollide: ") and len(line) < 1000 for line in lines)
    assert refused > len(values) / 4


def test_a_field_that_is_left_out_is_refused_unless_it_has_a_default():
    for name in RECORD:
        record = {key: value for key, value in RECORD.items() if key != name}
        if name in {"engine", "options", "names", "before", "after", "was"}:
            assert Case.read(record).family == "made"
        else:
            with pytest.raises(ValueError, match=f"{name}: expected a value, got none"):
                Case.read(record)


FOREIGN = {
    "empty": b"",
    "cut": json.dumps([RECORD]).encode()[:300],
    "nested lists": b"[" * DEEP,
    "nested field": put(RECORD, ("options",), '{"a":' * DEEP + "1" + "}" * DEEP).encode(),
    "binary": bytes(range(256)) * 10,
    "utf-16": json.dumps([RECORD]).encode("utf-16"),
    "a zip": b"PK\x03\x04" + bytes(100),
    "a number": b"1",
    "numbers": b"[1, 2]",
    "another field": json.dumps(RECORD | {"colour": 1}).encode(),
    "twice": json.dumps([RECORD]).encode() * 2,
}


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_one_line(refused, tmp_path, what, suffix):
    file = tmp_path / f"foreign.{suffix}"
    file.write_bytes(FOREIGN[what])
    line = refused("replay", file)
    assert line.startswith(f"cylcollide: {file}: expected ")
    assert line.endswith("; write the file anew")
    assert len(line) < 1000


def rays():
    """The arrays of a rays.npz with one row."""
    return {
        "schema": np.array(1), "engine": np.array("PyBullet"), "seed": np.array(0), "rays": np.array(1),
        "versions": np.array("{}"), "families": np.array(["aimed"]), "kinds": np.array(["missed"]),
        "pose_motion": np.array(["walk"]), "pose_time": np.zeros(1), "pose_p1": np.zeros((1, 1, 3)),
        "pose_p2": np.ones((1, 1, 3)), "limb_radius": np.array([0.1]), "limb_names": np.array(["arm"]),
        "family": np.zeros(1, np.int32), "kind": np.zeros(1, np.int32), "depth": np.full(1, np.nan),
        "ray": np.zeros(1, np.int64), "pose": np.zeros(1, np.int64), "start": np.array([[0.5, 0.5, -3.0]]),
        "end": np.array([[0.5, 0.5, 3.0]]), "limb_true": np.zeros(1, np.int32), "limb_engine": np.full(1, -1, np.int32),
        "fraction_true": np.full(1, 0.5), "fraction_engine": np.full(1, np.nan), "position_true": np.zeros((1, 3)),
        "position_engine": np.full((1, 3), np.nan), "normal_true": np.zeros((1, 3)),
        "normal_engine": np.full((1, 3), np.nan), "clearance": np.full(1, 0.1), "proved": np.ones(1, np.bool_),
    }  # fmt: skip


def refusal_prefix(file):
    """The beginning of the one line that refuses a file; "" if the file is read."""
    try:
        read_chosen(file, None, None)
    except ValueError as refused:
        (line,) = str(refused).splitlines()
        return line[: len(f"{file}: expected ")]
    return ""


def arrays(good):
    """Arrays that are wrong instead of a good one."""
    return [
        np.array(None, dtype=object), np.array([], good.dtype), np.array("x"), np.array(["x"] * 3), np.full(3, 10**18),
        np.full((2, 2, 2), np.nan), np.array([b"\xff"]), np.full(good.shape, np.inf), np.full(good.shape, -7),
        np.full(good.shape, 2**63, np.uint64), np.full(good.shape, 1j), np.zeros(good.shape, "M8[s]"),
        np.zeros(good.shape, [("a", "f8")]), np.full(good.shape, 1e300),
    ]  # fmt: skip


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", sorted(rays()))
def test_any_array_in_the_rays_is_answered_or_refused_in_one_line(tmp_path, name, step):
    """By default each column gets a fifth of the arrays, and each array is put into a fifth of the columns."""
    good = rays()
    for number, array in enumerate(arrays(good[name])[list(good).index(name) % step :: step]):
        file = tmp_path / f"{number}.npz"
        np.savez(file, **(good | {name: array}))
        assert refusal_prefix(file) in ("", f"{file}: expected ")
    np.savez(tmp_path / "out.npz", **{key: value for key, value in good.items() if key != name})
    if name in {"kind", "start", "limb_radius", "schema", "ray"}:
        with pytest.raises(ValueError, match=f"KeyError: '{name}"):
            read_chosen(tmp_path / "out.npz", None, None)


def test_a_file_larger_than_memory_is_refused_unread(refused, monkeypatch):
    for module in (case, mirror_ray):
        monkeypatch.setattr(module, "MOST_BYTES", 1000)
    assert "at most 1,000 bytes" in refused("replay", "/dev/zero")
