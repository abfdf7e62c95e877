"""What docs/characters.md shows about rigs is what happens."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "characters.md"


def test_snippets_about_rigs_run(tmp_path, monkeypatch, capsys):
    """Each block by itself; what it prints stands behind the line that prints it."""
    monkeypatch.chdir(tmp_path)
    section = re.search(r"^## Rigs\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    snippets = re.findall(r"```python\n(.*?)```", section.group(1), re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "characters.md", "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        said = re.findall(r"^print\(.*  # (.*)$", snippet, re.MULTILINE)
        assert said
        assert printed[-len(said) :] == said
