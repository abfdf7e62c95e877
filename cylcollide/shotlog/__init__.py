"""Judged shots in a file: written while a match goes on, read and judged again afterwards."""
