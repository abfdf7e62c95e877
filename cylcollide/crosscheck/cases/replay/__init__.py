"""``cylcollide replay``: one saved disagreement asked again on every engine at hand, and explained step by step."""
