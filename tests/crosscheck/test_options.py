"""Hostile options of every command: status 2 and no traceback, before any work begins."""

import json

import pytest
from support.cases.one_case import RECORD

TOO_MUCH = ("\u0663\u0663" * 12, "-1", "nan", "")
NUMBERS = {"crosscheck": ("--rays", "--seed", "--jobs"), "bench": ("--rays", "--rounds")}
NAMES = {"crosscheck": ("--families", "--engines", "--motion"), "bench": ("--engines", "--workloads")}


@pytest.mark.parametrize("value", TOO_MUCH)
@pytest.mark.parametrize(("asked", "option"), [(name, option) for name in NUMBERS for option in NUMBERS[name]])
def test_a_number_out_of_bounds_is_refused(command, tmp_path, asked, option, value):
    status, _, said = command(asked, f"{option}={value}", "--out", tmp_path / "out")
    assert status == 2
    assert option in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["", "no\nsuch\u2028[/bold]", "x" * 3000])
@pytest.mark.parametrize(("asked", "option"), [(name, option) for name in NAMES for option in NAMES[name]])
def test_an_unknown_name_is_one_line(refused, tmp_path, asked, option, value):
    refused(asked, f"{option}={value}", "--out", tmp_path / "new" / "out")
    assert not list(tmp_path.iterdir())


REFUSED = (
    ("crosscheck --engines cylcollide --out taken/report", "cannot write to"),
    ("crosscheck --engines all --motion walk", "--motion does not go with --engines"),
    ("crosscheck --families rim --motion walk", "--motion does not go with --families"),
    ("crosscheck --families rim --engines none", "no engine 'none'"),
    ("crosscheck --families rim --scheduler tcp://nowhere:1 --jobs 1", "--jobs does not go with --scheduler"),
    ("crosscheck --engines cylcollide --jobs 1", "--jobs does not go with --engines"),
    ("crosscheck --scheduler tcp://nowhere:1", "--scheduler goes with --families"),
    ("bench --engines cylcollide --levels x86-64-v9", "no level 'x86-64-v9'; known levels: "),
    ("bench --engines cylcollide --out /dev/null/report", "cannot write to /dev/null/report"),
    ("bench --scaling --engines cylcollide", "--scaling does not go with --engines"),
    ("bench --scaling --engines all --workloads W1", "--scaling does not go with --engines or --workloads"),
    ("bench --scaling --scene s", "--scaling does not go with --scene"),
    ("bench --scene s --workloads W1 --tasks", "--scene does not go with --workloads or --tasks"),
    ("replay cases.json --row 2", "--row: expected 0 to 1"),
    ("replay cases.json --row -1", "--row: expected 0 to 1"),
    ("replay cases.json --row 99999999999999999999", "--row: expected 0 to 1"),
    ("replay cases.json --place made/0", "--place: expected FAMILY/SEED/CHUNK/SCENE/ROW"),
    ("replay cases.json --place made/0 --row 1", "leave one of them out"),
    ("replay cases.json --minimise", "choose one with --row or --place"),
    ("replay cases.json --row 0 --repro /nonexistent/folder/x.py", "cannot open /nonexistent/folder/x.py"),
)


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_options_that_do_not_fit_are_one_line(refused, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    (tmp_path / "cases.json").write_text(json.dumps([RECORD, RECORD]))
    assert message in refused(*words.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.json", "taken"]
