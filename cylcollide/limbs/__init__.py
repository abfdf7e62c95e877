"""Limbs as a struct of arrays, and explanations of one segment against one limb."""
