"""The cross-check: casts the same segments here and in another engine, and resolves every disagreement exactly."""
