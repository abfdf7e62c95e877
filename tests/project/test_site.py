"""The documentation site: its programs run, its reference is complete, its answers are where they should be."""

import re
import runpy
import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import matplotlib as mpl
import pytest

import cylcollide as cc
from cylcollide.cli import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
START = [*sorted(DOCS.glob("start_*.md")), DOCS / "netcode.md"]
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


def anchors(page: Path) -> set[str]:
    """Names of the headings of a page, as links write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_question_leads_to_its_answer():
    """One click in the contents to the questions, one to the answer."""
    rows = re.findall(r"^\| (.+\?) \| (.+) \|$", (DOCS / "questions.md").read_text(), re.MULTILINE)
    assert len(rows) >= 20
    for question, answer in rows:
        links = re.findall(r"\]\((?:([^)#]+))(?:#([^)]+))?\)", answer)
        assert links or "`" in answer, question
        for target, anchor in links:
            made = re.sub(r"gallery/(\w+)\.rst", r"examples/\1.py", target)  # when the site is built
            page = DOCS / made
            assert page.exists(), (question, target)
            assert not anchor or anchor in anchors(page), (question, target, anchor)


def test_every_link_to_a_heading_finds_it():
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for target, anchor in re.findall(r"\]\(([^):]*\.md)?#([^)]+)\)", page.read_text()):
            assert anchor in anchors(page.parent / target if target else page), (page.name, target, anchor)


def test_the_version_is_the_same_everywhere():
    root = DOCS.parent
    assert f"version: {cc.__version__}\n" in (root / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE).group(1) == cc.__version__


LICENCES = {
    "MIT": "MIT",
    "BSD": "BSD|0BSD",
    "Apache 2.0": "Apache",
    "zlib": "zlib",
    "PSF": "Python Software",
    "MPL 2.0": "MPL",
}


def test_licences_of_all_packages_are_listed():
    """Each in its row; of those that are installed, as they say themselves."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", (DOCS / "about.md").read_text(), re.MULTILINE)[1:]
    listed = {
        package: licence
        for licences, packages in rows
        for licence, some in zip(licences.split("; "), packages.split("; "), strict=True)
        for package in some.split(", ")
    }
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needed = {re.match(r"[\w-]+", need).group() for needs in extras.values() for need in needs} - {"cylcollide"}
    assert needed <= set(listed)
    for package, licence in listed.items():
        try:
            said = metadata(package)
        except PackageNotFoundError:
            continue
        own = [said.get("License-Expression") or "", said.get("License") or "", *(said.get_all("Classifier") or [])]
        assert re.search(LICENCES[licence], " ".join(text for text in own if "::" not in text or "License" in text)), (
            package
        )


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
