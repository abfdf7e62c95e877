"""A package that is installed, as if it were not."""

import sys


def hide_package(monkeypatch, package: str) -> None:
    """Every import of a package and of what is in it fails until the test ends."""
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
