"""Bounding volume hierarchy over numbered boxes: build, refit, traverse. Knows no shapes: callers test leaves."""
