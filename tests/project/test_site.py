"""The documentation site: its programs run, its reference is complete."""

import re
import runpy
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pytest

from cylcollide.cli import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
START = sorted(DOCS.glob("start_*.md"))
NO_PAGE = {"__version__", "quaternions", "GROUP", "QuaternionOrder"}


@pytest.mark.parametrize("page", START, ids=lambda page: page.stem)
def test_programs_of_start_pages_run(page, capsys):
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, page.name, "exec"), {})
        printed = capsys.readouterr().out
        for claimed in re.findall(r"^ *print\(.*  # (\w+)", program, re.MULTILINE):
            assert claimed in printed


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_programs_of_the_gallery_make_a_picture(example, tmp_path):
    mpl.use("agg")
    from matplotlib import pyplot as plt

    names = runpy.run_path(str(example))
    figure = names.get("figure") or plt.figure(plt.get_fignums()[-1])
    figure.savefig(tmp_path / "picture.png")
    plt.close("all")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.mark.parametrize("module", ["", ".bullet", ".engines", ".panda3d", ".quaternions", ".view"])
def test_reference_has_every_public_name(module):
    pages = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.rst"))
    documented = set(re.findall(r"^\.\. auto(?:class|function):: (?:.*\.)?(\w+)$", pages, re.MULTILINE))
    names = set(import_module(f"cylcollide{module}").__all__)
    assert not names - NO_PAGE - documented


def test_reference_has_every_command():
    page = (DOCS / "reference" / "command_line.md").read_text()
    assert not [command for command in COMMANDS if f"cylcollide {command}" not in page]


def test_contents_name_every_page():
    contents = (DOCS / "README.md").read_text()
    pages = [*DOCS.glob("*.md"), *(DOCS / "reference").iterdir()]
    assert not [
        page.name for page in pages if f"{page.relative_to(DOCS)})" not in contents and page.name != "README.md"
    ]
