"""The sections of the page about the humanoid in motion."""
