"""The documentation site: `sphinx-build -c docs . site`. Its pages are those of the repository, where they stand.

The front page is README.md. Its contents are the sections of docs/README.md, so that each page is listed once: the
first as pages, each other one as a page of its own, which the sidebar folds. Links whose text is the name of a page
have its title.
"""

import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

import cylcollide
from cylcollide import _types

DOCS = Path(__file__).parent

project = "cylcollide"
author = "The cylcollide developers"
copyright = f"2026, {author}"
release = cylcollide.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxcontrib.programoutput",
    "sphinx_gallery.gen_gallery",
]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/contents/*.md",
    "docs/reference/*",
    "docs/gallery/*.rst",
    "benchmarks/README.md",
]
myst_heading_anchors = 4
default_role = "code"
suppress_warnings = ["config.cache"]  # the scraper below is a function

autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "inherited-members": "int, tuple, dict, object",
    "member-order": "groupwise",
}
autodoc_class_signature = "separated"  # so that a page can leave out the constructor of what queries make
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
nitpick_ignore_regex = [("py:.*", r"(?!cylcollide).*")]  # types of other packages


def figures_of_example(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """The figures that an example has made: pyplot's, and the one named `figure`, if any."""
    figure = variables["example_globals"].pop("figure", None)
    if not isinstance(figure, Figure):
        return matplotlib_scraper(block, variables, settings)
    path = next(variables["image_path_iterator"])
    figure.savefig(path, bbox_inches="tight")
    return figure_rst([path], settings["src_dir"])


sphinx_gallery_conf = {
    "show_signature": False,
    "image_scrapers": (figures_of_example,),
    "examples_dirs": "docs/examples",
    "gallery_dirs": "docs/gallery",
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),
    "write_computation_times": False,  # a page that asks the network for scripts
    "min_reported_time": 60,
}

html_theme = "furo"
html_title = f"cylcollide {release}"
html_static_path = ["style"]
html_css_files = ["site.css"]


def write_sections(_: Sphinx) -> None:
    """Write a page for each section of docs/README.md: its list, and the pages of the list as contents."""
    (DOCS / "contents").mkdir(exist_ok=True)
    for caption, section in [*sections().items()][1:]:
        listed = section.replace("](", "](../")
        (DOCS / "contents" / f"{file_name(caption)}.md").write_text(
            f"# {caption}\n\n{listed}\n{tree('', pages_of(section))}", encoding="utf-8"
        )


def on_site(text: str) -> str:
    """A page whose links to the programs of the gallery lead to the pages that the site makes of these."""
    link = r"(\]\((?:\.\./)?)examples/(?:(\w+)\.py)?\)"
    return re.sub(link, lambda found: f"{found[1]}gallery/{found[2] or 'index'}.rst)", text)


def sections() -> dict[str, str]:
    """The lists of docs/README.md by heading."""
    return dict(re.findall(r"\*\*(.+)\*\*\n\n((?:.+\n)+)", on_site((DOCS / "README.md").read_text())))


def file_name(caption: str) -> str:
    """The page of a section."""
    return caption.lower().replace(" ", "_")


def pages_of(section: str) -> list[Path]:
    """The pages that a list links to."""
    links = re.findall(r"^- \[.*?\]\((.+?)\)", section, re.MULTILINE)
    return [(DOCS / link).resolve().relative_to(DOCS.parent).with_suffix("") for link in links]


def tree(caption: str, pages: list[Path]) -> str:
    """Pages as contents."""
    entries = "\n".join(f"/{page}" for page in pages)
    head = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n{head}:hidden:\n\n{entries}\n```\n"


def prepare_source(_: Sphinx, page: str, source: list[str]) -> None:
    """Give links the titles of pages, and those to the gallery its pages, and the front page its contents."""
    source[0] = re.sub(r"\[[\w./]+\.md\]\(", "[](", on_site(source[0]))
    if page == "docs/README":
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    if page == root_doc:
        (first, pages), *others = ((caption, pages_of(section)) for caption, section in sections().items())
        folded = [Path("docs/contents") / file_name(caption) for caption, _ in others]
        source[0] += tree(first, pages) + tree("Contents", folded)


ARRAYS = {"ArrayLike": ArrayLike, **{name: kind for name, kind in vars(_types).items() if name.endswith("Array")}}
"""Types that signatures show by these names."""

autodoc_type_aliases = {name: name for name in ARRAYS}


def with_short_types(_: Sphinx, __: str, ___: str, ____: Any, _____: Any, *texts: str | None) -> tuple[str | None, ...]:
    """The texts of a signature, parameters and result, with array types by name."""
    short = tuple(text and text.replace("mappingproxy({})", "{}") for text in texts)
    for name, kind in ARRAYS.items():
        long = stringify_annotation(kind, "smart")
        short = tuple(text and text.replace(long, name) for text in short)
    return short


def to_front_page(app: Sphinx, error: Exception | None) -> None:
    """Let the folder of the site open with its front page."""
    if error is None and app.builder.name == "html":
        (Path(app.outdir) / "index.html").write_text('<meta http-equiv="refresh" content="0; url=README.html">\n')


def without_fields_numbers(_app: Sphinx, _what: str, _name: str, _: Any, __: Any, lines: list[str]) -> None:
    """Leave out what namedtuple says of each field, its number."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def without_constructors_of_tuples(_app: Sphinx, _what: str, name: str, _: Any, __: bool, ___: Any) -> bool | None:
    """Leave out how a namedtuple is made: only the library makes them."""
    return True if name == "__new__" else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", without_constructors_of_tuples)
    app.connect("autodoc-process-docstring", without_fields_numbers)
    app.connect("builder-inited", write_sections)
    app.connect("source-read", prepare_source)
    app.connect("autodoc-process-signature", with_short_types)
    app.connect("build-finished", to_front_page)
