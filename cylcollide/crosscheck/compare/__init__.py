"""Comparison of an engine's answers with the exact ones."""
