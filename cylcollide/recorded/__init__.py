"""Recorded ticks as loops read them: their limbs at a time, the boxes around these, and the ticks around a time."""
