"""The contents of a log: tables, the chain of digests over its pages, and each rig, policy and set of limbs once."""

import json
from hashlib import blake2b
from typing import Any, TypeAlias

from cylcollide.characters import rig_files
from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.limbs import files, tables
from cylcollide.limbs.limbs import Limbs
from cylcollide.shotlog.values import packed, unpacked

Stored: TypeAlias = Rig | Policy | Limbs
DIGEST_SIZE = 16

APPLICATION_ID = 0x63796C73
"""In the header of the file: "cyls"."""
FORMAT, VERSION = "cylcollide shots", 1
PAGE_SIZE = 2048
"""SQLite's page size in bytes; a page of a log may end in the middle of one."""

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


def digest_of(*parts: bytes) -> bytes:
    """The digest of a sequence of byte strings."""
    state = blake2b(digest_size=DIGEST_SIZE)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def first_link(about: str) -> bytes:
    """The beginning of the chain."""
    return digest_of(about.encode())


def next_link(chain: bytes, row: tuple[Any, ...]) -> bytes:
    """The chain up to and including a row: place, tick, time, shots, state, objects, content."""
    return digest_of(chain, json.dumps(row[:-1]).encode(), row[-1])


def content_of(stored: Stored) -> tuple[str, bytes]:
    """The kind of an object, and bytes from which it can be made again."""
    if isinstance(stored, Rig):
        return "rig", rig_files.text_of(stored).encode()
    if isinstance(stored, Policy):
        return "policy", stored.to_json().encode()
    columns = {**tables.given_columns(stored._table), "hit_group": stored.hit_group}
    return "limbs", packed({"columns": columns, "names": list(stored.names)})


def object_of(kind: str, content: bytes) -> Stored:
    """The object made from this content; ValueError if it is not valid."""
    if kind == "rig":
        return Rig(*rig_files.read(content))
    if kind == "policy":
        return Policy.from_json(content.decode())
    if kind != "limbs":
        raise ValueError(f"expected a rig, a policy or limbs, got {kind!r}")
    value = unpacked(content)
    return Limbs(*files.checked_columns(value["columns"], value["names"]))


class NewContents:
    """Digests of objects, and the contents of those that are new since the last `take`."""

    def __init__(self) -> None:
        self._of_policy: dict[Policy, str] = {}
        self._known: set[str] = set()
        self._new: list[tuple[str, str, bytes]] = []

    def digest(self, stored: Stored) -> str:
        """The digest of an object, in hexadecimal; its content is added if it is new.

        Rigs and limbs store their digests themselves, so a log does not keep them alive.
        """
        if isinstance(stored, Policy):  # a program may make equal ones for every shot
            found = self._of_policy.get(stored)
            return found if found is not None else self._of_policy.setdefault(stored, self._add(stored))
        digest: str | None = vars(stored).get("_digest")
        return digest if digest in self._known else vars(stored).setdefault("_digest", self._add(stored))

    def _add(self, stored: Stored) -> str:
        kind, content = content_of(stored)
        digest = digest_of(kind.encode(), content).hex()
        if digest not in self._known:
            self._known.add(digest)
            self._new.append((digest, kind, content))
        return digest

    def take(self) -> list[tuple[str, str, bytes]]:
        """Digest, kind and content of all new objects, which are not new from then on."""
        new, self._new = self._new, []
        return new
