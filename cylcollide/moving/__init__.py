"""A flying bullet and one limb that moves: the flight, bounds of their contact, and its accurate time."""
