"""The first contact of each flying bullet, while limbs move from tick to tick."""
