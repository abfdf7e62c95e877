"""Limbs as a struct of arrays, and the explanation of one ray against one limb."""
