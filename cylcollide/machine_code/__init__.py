"""The extension modules that the build makes, one per level; none in a checkout that nobody has built."""
