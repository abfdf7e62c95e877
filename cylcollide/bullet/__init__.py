"""A drop-in replacement for PyBullet's ray tests, exact, on the shapes of a live client.

`Mirror(client)` reads the bodies of a client, follows their poses, and has `rayTest` and `rayTestBatch` with PyBullet's
arguments and result tuples. Importing this needs no PyBullet; making a `Mirror` does.
"""

from cylcollide.bullet.mirror import Mirror

__all__ = ["Mirror"]
