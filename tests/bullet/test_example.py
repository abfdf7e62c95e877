"""The demo changes one line of a PyBullet program, and few answers of the exact program differ."""

import difflib
import re
import runpy
from pathlib import Path

DEMOS = Path(__file__).parents[2] / "demos"


def test_the_swap_is_one_line_and_the_answers_are_comparable(capsys):
    demo = runpy.run_path(str(DEMOS / "drop_in.py"), run_name="drop_in")
    source = demo["PROGRAM"].read_text()
    changed = source.replace(demo["LINE"], demo["NEW_LINE"])
    lines = [line for line in difflib.ndiff(source.splitlines(), changed.splitlines()) if line[0] in "+-"]
    assert [line[0] for line in lines] == ["-", "+"]
    assert "cylcollide" not in source.split('"""')[2]
    theirs, ours = demo["run"](source), demo["run"](changed)
    assert len(theirs) == len(ours) == 20_000
    different = sum(a[0] != b[0] for a, b in zip(theirs, ours, strict=True))
    assert 0 < different < 200, "phantoms, and little else"
    assert len({answer[0] for answer in ours}) > 25
    assert "shots hit a body" in capsys.readouterr().out


def test_the_page_shows_real_output(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page, names = (DEMOS.parent / "docs" / "bullet.md").read_text(), {}
    swap, choices = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(swap, "bullet.md", "exec"), names)
    assert capsys.readouterr().out == "0 -1\n(20000, 3) 0.1\n"
    exec(compile(choices, "bullet.md", "exec"), names)
    assert capsys.readouterr().out.startswith("[0, -1, 0]\n(0.0, 0.1, 1.0) -> (9.0, 0.2, 1.0): the answers differ")
    assert (tmp_path / "case.json").is_file()
