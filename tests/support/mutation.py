"""One expression that is broken on purpose."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """One expression of the package, and a wrong one in its place."""

    file: str  # below cylcollide/
    old: str  # occurs exactly once
    new: str
