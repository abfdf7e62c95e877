"""Boxes and indices: build, refit, walk. Knows no shape: a walk hands out leaves, the caller tests what is in them."""
