"""A parser of HTML reports for tests."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np

LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """Text outside scripts and styles, the data in scripts, and every address that a tag loads or links to."""

    def __init__(self):
        super().__init__()
        self.text, self.scripts, self.loads, self.links, self.ids, self.stack = "", {}, [], [], [], []

    @classmethod
    def parse(cls, html):
        page = cls()
        page.feed(html)
        page.close()
        return page

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.stack.append((tag, attributes.get("id")))
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag in LOADING and attributes.get(LOADING[tag]):
            self.loads.append(attributes[LOADING[tag]])
        elif tag == "a":
            self.links.append(attributes["href"])

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tag, name = self.stack[-1] if self.stack else ("", None)
        if tag == "script":
            self.scripts[name] = self.scripts.get(name, "") + data
        elif tag != "style":
            self.text += data

    def figure(self, name):
        return json.loads(self.scripts[f"figure-{name}"])

    @property
    def words(self):
        return re.sub(r"\s+", " ", self.text)


def page_alone(html):
    """The parsed page; asserts that it loads no external files, has one copy of plotly, and has unique ids."""
    page = Page.parse(html)
    assert page.loads == ["data:,"]
    assert "@import" not in html
    assert not re.search(r"url\(\s*['\"]?(https?:)?//", html.split("</style>")[0])
    assert len(html) < 3_000_000
    assert gzip.decompress(base64.b64decode(page.scripts["plotly"])).count(b"plotly.js v") == 1
    assert len(page.ids) == len(set(page.ids))
    return page


def numbers(column):
    """A column of a trace as an array, from a list or from base64."""
    if isinstance(column, dict):
        return np.frombuffer(base64.b64decode(column["bdata"]), dtype=column["dtype"])
    return np.array(column)
