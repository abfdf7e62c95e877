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


@pytest.mark.parametrize("row", ["99999999999999999999", "-1"])
def test_a_row_out_of_range_is_one_line(refused, tmp_path, row):
    (tmp_path / "one.json").write_text(json.dumps(RECORD))
    assert "--row: expected 0 to 0" in refused("replay", tmp_path / "one.json", "--row", row)
