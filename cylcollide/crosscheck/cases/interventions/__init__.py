"""What can be changed about one ray to prove the cause of a disagreement, and the PyBullet client that allows it."""
