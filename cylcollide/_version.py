"""The version of the package, for itself and for what builds it."""

__version__ = "0.2.0"


def to_install(extra: str) -> str:
    """The commands that install an extra, from a clone of the repository and from a package index."""
    return f"pip install '.[{extra}]' in a clone, 'cylcollide[{extra}]' from an index"
