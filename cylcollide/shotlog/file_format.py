"""The SQLite file of a log: its tables, what it says about itself, and the chain of digests over its pages."""

import json
from typing import Any

from cylcollide.shotlog.contents import digest_of

APPLICATION_ID = 0x63796C73
"""In the header of the file: "cyls"."""
FORMAT, VERSION = "cylcollide shots", 1
PAGE_SIZE = 2048
"""Of SQLite, in bytes: a page of ours ends in the middle of one of these."""

TABLES = """
CREATE TABLE about (content TEXT NOT NULL);
CREATE TABLE objects (digest TEXT PRIMARY KEY, kind TEXT NOT NULL, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    place INTEGER PRIMARY KEY,
    tick INTEGER,             -- that the page ends with; NULL: the log ended before the next one
    time REAL,
    shots INTEGER NOT NULL,
    state INTEGER NOT NULL,   -- at its beginning: 0 none, 1 of the world, 2 of the world and its history
    objects TEXT NOT NULL,    -- digests of those that are new in this page, as JSON
    content BLOB NOT NULL,
    chain BLOB NOT NULL       -- digest of all this and of the chain of the page before
);
"""
COLUMNS = "place, tick, time, shots, state, objects, content, chain"


def first_link(about: str) -> bytes:
    """The beginning of the chain."""
    return digest_of(about.encode())


def next_link(chain: bytes, row: tuple[Any, ...]) -> bytes:
    """The chain up to and with a row: place, tick, time, shots, state, objects, content."""
    return digest_of(chain, json.dumps(row[:-1]).encode(), row[-1])
