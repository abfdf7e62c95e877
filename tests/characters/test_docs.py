"""The code in docs/characters.md runs and prints what the page shows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "characters.md"


def test_snippets_run(tmp_path, monkeypatch, capsys):
    """Those about rigs by themselves, with the output that their comments say; the others in the order of the page."""
    monkeypatch.chdir(tmp_path)
    page, names, printed = PAGE.read_text(), {}, ""
    for title in ("Rigs", "In a world", "In the past"):
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE).group(1)
        snippets = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        assert snippets
        for snippet in snippets:
            own = {} if title == "Rigs" else names
            exec(compile(snippet, "characters.md", "exec"), own)
            names |= own
            output = capsys.readouterr().out
            printed += output
            if title == "Rigs":
                said = re.findall(r"^print\(.*  # (.*)$", snippet, re.MULTILINE)
                assert said
                assert output.splitlines()[-len(said) :] == said
    shown = re.findall(r"```\n(miss: .*?)```", page, re.DOTALL)
    assert len(shown) == 1
    assert shown[0] in printed
    assert {path.name for path in tmp_path.glob("*.png")} == {"miss.png", "then.png"}


def test_the_first_surface_is_not_offered_for_blades():
    """When and what a swung blade hits differs from the first surface along a ray."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    offers = [line for page in pages for line in page.read_text().splitlines() if "first_surface" in line]
    assert offers
    assert [line for line in offers if re.search("melee|sword|blade|knife|axe", line, re.IGNORECASE)] == []
