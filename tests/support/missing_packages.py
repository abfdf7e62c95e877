"""A package that is installed, as if it were not."""

import builtins
import sys


def hide_package(monkeypatch, package: str) -> None:
    """Every import of a package and of what is in it fails until the test ends."""
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
