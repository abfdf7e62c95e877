"""Bounding volume hierarchy over numbered boxes: build, refit, traverse. Independent of shapes."""
