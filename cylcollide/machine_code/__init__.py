"""The extension modules that the build makes, one a level; none in a checkout that nobody has built."""
