"""The source files that machine code was made of, by which an editable installation notices that they have changed."""

from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parents[2]


def digest_of_files(names: list[str]) -> str:
    """A digest of the names and contents of files of the package."""
    whole = blake2b(digest_size=16)
    for name in names:
        path = ROOT / name
        whole.update(blake2b(name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"")).digest())
    return whole.hexdigest()
