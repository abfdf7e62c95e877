"""Skins: meshes that bones carry, the limbs fitted to them, and how well they fit."""
