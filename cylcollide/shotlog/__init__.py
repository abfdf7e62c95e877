"""Judged shots in a file: written during a match, read and judged again afterwards."""
