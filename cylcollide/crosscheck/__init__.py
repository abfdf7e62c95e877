"""The cross-check: the same bullets at the same solids, here and in another engine, every disagreement settled."""
