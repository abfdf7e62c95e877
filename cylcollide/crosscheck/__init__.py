"""The cross-check: casts the same segments here and in another engine, and settles every disagreement."""
