"""Results as tables, as text and in files: every column of every kind of result, and broken files."""

import pickle
from inspect import isabstract

import numpy as np
import pandas as pd
import pytest
from support.awkward_calls import calls

import cylcollide as cc
from cylcollide.bullet import Mirror
from cylcollide.query.result import Result


def of_a_mirror():
    """Hits and chords of a mirror, of rays through one to three balls."""
    starts, ends = np.tile([-5.0, 0.0, 1.0], (6, 1)), np.array([[5.0, 0.7 * k, 1.0] for k in range(6)])
    p = pytest.importorskip("pybullet")
    client = p.connect(p.DIRECT)
    try:
        for k in range(3):
            ball = p.createCollisionShape(p.GEOM_SPHERE, radius=1.0, physicsClientId=client)
            p.createMultiBody(0, ball, basePosition=[2.0 * k - 2.0, 0.0, 1.0], physicsClientId=client)
        mirror = Mirror(client)
        image = mirror.cast_segments(starts[0], ends.reshape(3, 2, 3))
        assert image.shape == (3, 2)
        assert image == mirror.cast_segments(np.repeat(starts[:1], len(ends), axis=0), ends)
        thick = mirror.cast_segments(starts, ends, radius=0.1)
        return [mirror.cast_segments(starts, ends), mirror.chords_segments(starts, ends), thick]
    finally:
        p.disconnect(client)


@pytest.fixture(scope="module")
def results():
    """A result of each kind, of the present and of the past, with rows."""
    found = [call.call(**call.arguments) for call in calls().values()]
    found += [one.impacts for one in found if isinstance(one, cc.Judged)]
    by_hits = sorted((one for one in found if isinstance(one, Result)), key=lambda one: (one.limb >= 0).sum())
    kinds = {(type(one), *one.to_dict()): one for one in by_hits}  # of each kind the last, which has most hits
    return [*kinds.values(), *of_a_mirror()]


KINDS = 24


@pytest.fixture(params=range(KINDS))
def result(request, results):
    assert len(results[request.param]) > 3
    return results[request.param]


def kinds(of=Result):
    """Return every kind of result that queries answer with."""
    below = [kind for kind in of.__subclasses__() if kind.__module__.startswith("cylcollide")]
    return {*below, *(one for kind in below for one in kinds(kind))}


def test_every_result_kind_is_tested(results):
    assert len(results) == KINDS
    concrete = {kind.__name__ for kind in kinds() if hasattr(kind, "fields") and not isabstract(kind)} - {"LimbLists"}
    assert concrete == {type(result).__name__ for result in results}


def test_a_dictionary_has_every_column(result):
    columns = result.to_dict()
    assert set(result.fields) <= set(columns)
    for name in result.fields:
        assert len(columns[name]) == len(result), name
        assert np.array_equal(columns[name], getattr(result, name), equal_nan=columns[name].dtype.kind == "f"), name


def test_undecided_answers_differ_from_others(tmp_path):
    """`undecided` survives files and slices, and counts in comparisons."""
    world = cc.HitWorld(cc.Limbs.ellipsoids([[0, 0, 0.0]], [[0, 0, 2.0]], 0.5))
    radius = np.nextafter(0.25, np.arange(0, 5)[:, None]).ravel()
    starts, ends = [[-3, 0.75, 1.0]] * 5, [[3, 0.75, 1.0]] * 5
    for ask in (world.cast_segments, world.chords_segments):
        answer = ask(starts, ends, radius=radius)
        assert answer.undecided.any()
        answer.save(tmp_path / "open")
        again = type(answer).load(tmp_path / "open")
        assert again.undecided.tolist() == answer.undecided.tolist()
        assert again[1:3].undecided.tolist() == answer[1:3].undecided.tolist()


def test_frames_and_arrow_tables_have_the_numbers_of_the_columns(result):
    frame, table, columns = result.to_pandas(), result.to_arrow(), result.to_dict()
    assert list(frame.columns) == table.column_names
    assert len(frame) == table.num_rows == len(result)
    for name, column in columns.items():
        if column.ndim == 2:
            flat = frame[[f"{name}_{axis}" for axis in "xyz"]].to_numpy()
            assert np.array_equal(flat, column, equal_nan=True), name
        elif name.endswith("face"):
            assert frame[name].tolist() == table[name].to_pylist() == [cc.Face(face).name for face in column], name
        elif name in ("reason", "limb_verdict"):
            words = cc.Reason if name == "reason" else cc.Doubt
            assert table[name].to_pylist() == [words(one).name for one in column]
        elif name == "limb_name":
            assert table[name].to_pylist() == column.tolist()
            assert frame[name].isna().tolist() == [one is None for one in column]
        else:
            assert np.array_equal(frame[name], column, equal_nan=column.dtype.kind == "f"), name
            assert np.array_equal(table[name].to_numpy(), column, equal_nan=column.dtype.kind == "f"), name


def test_saved_results_are_restored(result, tmp_path):
    """All columns of rows or queries, except those documented as computed on access."""
    result.save(tmp_path / "kept")
    again = type(result).load(tmp_path / "kept.npz")
    assert isinstance(again, type(result))
    assert again == result
    public = [name for name in dir(result) if not name.startswith("_")]
    columns = {name for name in public if isinstance(getattr(result, name, None), np.ndarray)}
    missing = {name for name in columns if not hasattr(again, name)} - {"clearance", "clearance_limb"}
    assert missing <= ({"local_normal"} if isinstance(result, cc.SweptHits) else set())
    assert columns > {"limb"}
    assert again[3:11] == result[3:11]
    assert again[[2, 0]] == result[[2, 0]]
    with np.load(tmp_path / "kept.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    for loaded in (again, again[3:11]):
        copy = pickle.loads(pickle.dumps(loaded))
        assert isinstance(copy, type(result))
        assert copy == loaded
        assert (copy.shape, repr(copy), copy[[2, 0]]) == (loaded.shape, repr(loaded), loaded[[2, 0]])
    again.save(tmp_path / "twice")
    assert type(result).load(tmp_path / "twice") == result
    for name in ("present_positions", "present_position", "by_shot", "explain", "plot"):
        with pytest.raises(AttributeError, match=f"{name}: not in the file"):
            getattr(again, name)


def test_only_results_of_worlds_have_ticks(result):
    assert hasattr(type(result), "tick") == ("bullet" not in type(result).__module__)


def test_equality_of_every_column(result, tmp_path):
    result.save(tmp_path / "kept")
    again = type(result).load(tmp_path / "kept")
    for name in result.fields:
        columns = dict(again._columns)
        changed = columns[name].copy()
        changed.flat[-1] = "other" if name == "limb_name" else not changed.flat[-1] if changed.dtype == bool else 77
        columns[name] = changed
        assert type(again)(columns) != result, name
    assert result != 3
    assert result[:2] != result


def test_text_and_html_show_the_first_rows(result):
    text, html = repr(result), result._repr_html_()
    assert text.startswith(type(result).__name__)
    shown = text.splitlines()[2:-1] if len(result) > 5 else text.splitlines()[2:]
    assert len(shown) == min(5, len(result))
    assert html.count("<tr>") == 1 + len(shown)
    if isinstance(result, cc.RayHits | cc.ClosestPoints):
        assert result[0].static == result.static[0]
    if "limb_name" in result.fields:
        for line, name in zip(shown, result.limb_name.tolist(), strict=False):
            assert str(name) in line
    assert len(repr(result[:0]).splitlines()) == 1
    names, where = text.splitlines()[1].split(), [name for name in result.fields if name.endswith("fraction")]
    assert not where or any(name.endswith(("fraction", "distance")) for name in names)


def test_object_arrays_are_refused(result, tmp_path):
    for make in (np.asarray, pd.DataFrame, lambda it: np.savez(tmp_path / "x.npz", it)):
        with pytest.raises(TypeError, match=r"to_pandas\(\) or save"):
            make(result)


def test_other_files_are_refused_in_one_line(results, tmp_path):
    hits, chords = (next(one for one in results if type(one) is kind) for kind in (cc.RayHits, cc.Chords))
    path = tmp_path / "kept.npz"
    chords.save(path)
    with pytest.raises(ValueError, match="got one of Chords"):
        cc.RayHits.load(path)
    hits.save(path)
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], whole[:-1], b"PK" + whole[:50]):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"kept\.npz: expected a file that RayHits\.save wrote, got [^\n]*$"):
            cc.RayHits.load(path)
    columns = hits.to_dict() | {"limb_name": np.zeros(3, np.uint8), "kind": np.frombuffer(b'"RayHits"', np.uint8)}
    columns["limb_name"] = np.frombuffer(b'["a"]', np.uint8)
    np.savez(path, **columns)
    with pytest.raises(ValueError, match="damaged or unknown column 'limb_name'"):
        cc.RayHits.load(path)
    del columns["fraction"], columns["limb_name"]
    np.savez(path, **columns)
    with pytest.raises(ValueError, match="without the column 'fraction'"):
        cc.RayHits.load(path)
    with pytest.raises(FileNotFoundError):
        cc.RayHits.load(tmp_path / "none")


def test_damaged_columns_are_refused_by_name(results, tmp_path):
    distinct = {(type(one), *one._columns): one for one in results}
    assert {type(one) for one in results} == {kind for kind, *_ in distinct}
    known = set()
    for result in distinct.values():
        check_damaged_columns(result, known, tmp_path / "kept.npz")
    assert known >= {"kind", "shape", "offsets", "rechecked", "limb_name", "face", "position", "hit"}


def check_damaged_columns(result, known, path):
    """Assert that files with one column spoiled or missing are refused; of known columns only one."""
    result.save(path)
    with np.load(path) as archive:
        good = {name: archive[name] for name in archive.files}
    compressed = {"offsets", *result._of_queries} & good.keys()
    for name in compressed:
        np.savez(path, **{other: column for other, column in good.items() if other != name})
        with pytest.raises(ValueError, match=rf"kept\.npz: expected .* got one without the column '{name}'"):
            type(result).load(path)
    assert bool(compressed) == hasattr(result, "offsets")
    texts, words = {"kind", "limb_name"}, [np.frombuffer(text, np.uint8) for text in (b"[1]", b"1", b"[" * 99_999)]
    again = [name for name in good if name in known][:1]
    for name in [*(name for name in good if name not in known), *again]:
        column = good[name]
        damaged = [np.concatenate([column, column]), column.astype(np.float32)] if column.ndim else []
        damaged += [column[None], np.zeros(column.shape, "M8[s]")]
        damaged += [column.astype(float), -5 - column] if name in {"offsets", "shape", "rechecked"} else []
        damaged += [np.full(column.shape, 2**40), column[::-1]] if name == "offsets" else []
        damaged += [np.full(column.shape, 99, np.int8), ~column] if column.dtype == np.int8 else []
        for spoiled in words if name in texts else damaged:
            np.savez(path, **{**good, name: spoiled})
            with pytest.raises(ValueError, match=r"kept\.npz: expected .* got (a damaged or|one without r|one of)"):
                type(result).load(path)
    known.update(good)
    np.savez(path, **good, save=good["shape"])
    with pytest.raises(ValueError, match="damaged or unknown column 'save'"):
        type(result).load(path)


def test_limbs_are_chosen_by_name():
    limbs = cc.Rig.humanoid().limbs
    assert limbs["head"] == limbs[[limbs.names.index("head")]]
    both = cc.Limbs.concat([limbs, limbs])
    assert len(both["chest"]) == 2
    with pytest.raises(KeyError, match="no limb is named 'wing'; the names are"):
        _ = limbs["wing"]
