"""The documentation site: its programs run, its reference is complete, its links lead to answers."""

import ast
import inspect
import re
import runpy
import textwrap
import tomllib
from dataclasses import is_dataclass
from functools import cache
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
EXACT = [DOCS / "flight.md", DOCS / "level_geometry.md"]
"""Pages whose programs print the comments behind their `print` lines, and nothing else."""
NO_PAGE = {"__version__", "quaternions", "GROUP", "QuaternionOrder"}


@pytest.mark.parametrize("page", [*START, *EXACT], ids=lambda page: page.stem)
def test_programs_of_start_pages_run(page, capsys):
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, page.name, "exec"), {})
        printed = capsys.readouterr().out
        for claimed in re.findall(r"^ *print\(.*  # (\w+)", program, re.MULTILINE):
            assert claimed in printed
        assert page in START or re.findall(r"^print\(.*  # (.*)$", program, re.MULTILINE) == printed.splitlines()


def test_programs_of_pages_import_real_names():
    imports = re.compile(r"^from (cylcollide[\w.]*) import ([\w, ]+)$", re.MULTILINE)
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    found = [(page.name, *one) for page in pages for one in imports.findall(page.read_text())]
    assert len(found) > 8
    for page, module, names in found:
        for name in names.split(", "):
            assert hasattr(import_module(module), name), (page, module, name)


def anchors(page: Path) -> set[str]:
    """Names of the headings of a page, as links write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_query_leads_to_its_answer():
    """One click in the contents to the questions, one to the answer; other tests follow the links."""
    rows = re.findall(r"^\| (.+\?) \| (.+) \|$", (DOCS / "questions.md").read_text(), re.MULTILINE)
    assert len(rows) >= 20
    for question, answer in rows:
        assert re.search(r"\]\([^)]+\)|`", answer), question


def test_every_link_to_a_heading_finds_it():
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for target, anchor in re.findall(r"\]\(([^):]*\.md)?#([^)]+)\)", page.read_text()):
            assert anchor in anchors(page.parent / target if target else page), (page.name, target, anchor)


def test_the_version_is_the_same_everywhere():
    root = DOCS.parent
    assert f"version: {cc.__version__}\n" in (root / "CITATION.cff").read_text()
    assert f"version = {{{cc.__version__}}}" in (DOCS / "about.md").read_text()
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
    """Licences of installed packages are those of their metadata."""
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


def referenced() -> list[type]:
    """The classes of the reference."""
    found = []
    for page in (DOCS / "reference").glob("*.rst"):
        module = ""
        for directive, name in re.findall(r"^\.\. (currentmodule|autoclass):: (\S+)$", page.read_text(), re.MULTILINE):
            if directive == "currentmodule":
                module = name
            else:
                room, _, last = (name if name.startswith("cylcollide.") else f"{module}.{name}").rpartition(".")
                found.append(getattr(import_module(room), last))
    return found


@cache
def set_by_methods(kind: type) -> tuple[set[str], set[str]]:
    """Public attributes that methods of a class set, and those with a docstring beneath."""
    names, described = set(), set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("vars(self).update", "self._set_columns"):
            names |= {keyword.arg for keyword in node.keywords}
        body = getattr(node, "body", None)
        for one, after in zip(body, [*body[1:], None], strict=True) if isinstance(body, list) else ():
            if isinstance(one, ast.Assign | ast.AnnAssign):
                targets = [one.target] if isinstance(one, ast.AnnAssign) else one.targets
                own = {
                    part.attr
                    for target in targets
                    for part in (target.elts if isinstance(target, ast.Tuple) else [target])
                    if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "self"
                }
                names |= own
                described |= own if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else set()
    return {name for name in names if name and name[0] != "_"}, described


def hidden_names(kind: type) -> set[str]:
    """Public attributes of a class that its entry in the reference does not have."""
    own = [base for base in kind.__mro__ if base.__module__.startswith("cylcollide")]
    shown = set(dir(kind)).union(*(vars(base).get("__annotations__", ()) for base in own))
    shown |= set(re.findall(r"\w+", " ".join(base.__doc__ or "" for base in own)))
    for base in own:
        shown |= set_by_methods(base)[1]
    return set().union(*(set_by_methods(base)[0] for base in own)) - shown


def test_every_public_attribute_is_in_the_reference():
    """The reference excludes no public name of a class; names that it does not contain are private."""
    pages = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.rst"))
    left_out = re.findall(r":exclude-members: (.+)", pages)
    assert left_out
    assert {name for names in left_out for name in names.split(", ")} <= {"__init__", "__new__"}
    assert re.search(r'"undoc-members": True', (DOCS / "conf.py").read_text())
    kinds = referenced()
    assert len(kinds) > 50
    assert {kind.__name__: hidden for kind in kinds if (hidden := hidden_names(kind))} == {}


def names_of_the_contract() -> set[str]:
    """Names in the code of the pages that define the public interface."""
    names = set()
    for page in ("design", "adding_an_engine", "bullet", "characters"):
        text = (DOCS / f"{page}.md").read_text().partition("\n## 5.")[0]
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            names |= set(re.findall(r"\w+(?=[,)=(])|(?<=\.)\w+", block))
        spans = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        names |= set(re.findall(r"\w+", " ".join(spans)))
    return names


def test_every_public_attribute_is_in_the_contract():
    """Except those of records and enumerations."""
    named, seen, strange = names_of_the_contract(), 0, {}
    for kind in referenced():
        if is_dataclass(kind) or issubclass(kind, tuple | int) or getattr(kind, "_is_protocol", False):
            continue
        own = [base for base in kind.__mro__ if base.__module__.startswith("cylcollide")]
        names = set(dir(kind)).union(*(vars(base).get("__annotations__", ()) for base in own))
        names |= set().union(*(set_by_methods(base)[0] for base in own))
        public = {name for name in names - set(dir(dict)) if name[0] != "_"}
        strange[kind] = {name for name in public - named if re.sub("^(entry|exit)_", "", name) not in named}
        seen += len(public)
    assert {kind.__name__: names for kind, names in strange.items() if names} == {}
    assert seen > 300


def test_reference_has_every_command():
    page = (DOCS / "reference" / "command_line.md").read_text()
    assert not [command for command in COMMANDS if f"cylcollide {command}" not in page]


def test_contents_name_every_page():
    contents = (DOCS / "README.md").read_text()
    pages = [*DOCS.glob("*.md"), *(DOCS / "reference").iterdir()]
    assert not [
        page.name for page in pages if f"{page.relative_to(DOCS)})" not in contents and page.name != "README.md"
    ]
