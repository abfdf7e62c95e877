"""CSV files of the scripts under `benchmarks/`."""

import csv

from cylcollide.bench.results import markdown_table, replace_between, save, stamp


def test_rows_are_stamped_unless_they_were_measured_before(tmp_path, capsys):
    path = tmp_path / "measured.csv"
    save(path, [{"what": "old", "us": 1, "date": "2026-11-01"}, {"what": "new", "us": 2}])
    old, new = csv.DictReader(path.read_text().splitlines())
    assert list(old) == ["date", "machine", "what", "us"]
    assert (old["date"], old["what"], new["us"]) == ("2026-11-01", "old", "2")
    assert (new["date"], new["machine"]) == tuple(stamp().values())
    assert "new\t2\n" in capsys.readouterr().out


def test_text_between_the_marks_of_a_page_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before <a> old <b> after")
    replace_between(page, "<a>", "<b>", "new")
    assert page.read_text() == "before <a>\n\nnew\n\n<b> after"


def test_a_table_of_a_page_has_a_head():
    assert (
        markdown_table(["who", "count"], [["a", 1], ["b", 2]]) == "| who | count |\n| --- | --- |\n| a | 1 |\n| b | 2 |"
    )
