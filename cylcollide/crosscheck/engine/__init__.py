"""The engine under test: how PyBullet is set up."""
