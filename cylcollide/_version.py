"""The version of the package, for the package itself and its build."""

__version__ = "0.2.0"


def to_install(extra: str) -> str:
    """The commands that install an extra, from a clone of the repository and from a package index."""
    return f"pip install '.[{extra}]' in a clone, 'cylcollide[{extra}]' from an index"


def not_installed(package: str, extra: str, missing: ImportError) -> ImportError:
    """The error of a package that an extra installs, with the remedy; it names what could not be imported."""
    said = f"{package} is needed here and could not be imported ({missing}); install it with: {to_install(extra)}"
    return ImportError(said, name=missing.name)
