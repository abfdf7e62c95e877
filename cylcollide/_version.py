"""The version of the package, for itself and for what builds it."""

__version__ = "0.2.0"
