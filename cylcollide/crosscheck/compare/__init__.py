"""Answers of an engine beside the exact ones."""
