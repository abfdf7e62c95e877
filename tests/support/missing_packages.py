"""Hide an installed package."""

import sys


def hide_package(monkeypatch, package: str) -> None:
    """Make every import of a package and of its modules fail until the test ends."""
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
