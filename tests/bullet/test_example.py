"""The page shows what its examples print."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "bullet.md"


def test_the_page_shows_real_output(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    swap, choices = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(swap, "bullet.md", "exec"), names)
    assert capsys.readouterr().out == "0 -1\n(20000, 3) 0.1\n"
    exec(compile(choices, "bullet.md", "exec"), names)
    assert capsys.readouterr().out.startswith("[0, -1, 0]\n(0.0, 0.1, 1.0) -> (9.0, 0.2, 1.0): the answers differ")
    assert (tmp_path / "case.json").is_file()
