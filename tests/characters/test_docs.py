"""The code in docs/characters.md runs and prints what the page shows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "characters.md"


def test_snippets_about_rigs_run(tmp_path, monkeypatch, capsys):
    """Each block by itself; its output equals the comments behind its print calls."""
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


def test_snippets_about_worlds_and_the_past_run(tmp_path, monkeypatch, capsys):
    """In the order of the page; the printed explanation equals the shown one."""
    monkeypatch.chdir(tmp_path)
    page, names = PAGE.read_text(), {}
    for title in ("Rigs", "In a world", "In the past"):
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE).group(1)
        snippets = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        assert snippets
        for snippet in snippets:
            exec(compile(snippet, "characters.md", "exec"), names)
    shown = re.findall(r"```\n(miss: .*?)```", page, re.DOTALL)
    assert len(shown) == 1
    assert shown[0] in capsys.readouterr().out
    assert {path.name for path in tmp_path.glob("*.png")} == {"miss.png", "then.png"}


def test_the_first_surface_is_not_offered_for_blades():
    """When and what a swung blade hits differs from the first surface along a ray."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    offers = [line for page in pages for line in page.read_text().splitlines() if "first_surface" in line]
    assert offers
    assert [line for line in offers if re.search("melee|sword|blade|knife|axe", line, re.IGNORECASE)] == []
