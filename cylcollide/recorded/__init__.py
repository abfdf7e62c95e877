"""Recorded ticks as loops read them: their limbs at a time, the boxes that hold these, and the ticks around a time."""
