"""The shapes, one a file."""
