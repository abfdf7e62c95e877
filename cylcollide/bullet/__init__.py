"""A drop-in for PyBullet's ray tests: the shapes of a live client, answered exactly.

`Mirror(client)` reads what bodies a client has, follows their poses, and answers `rayTest` and `rayTestBatch` with
PyBullet's arguments and PyBullet's tuples. Importing this needs no PyBullet; making a `Mirror` does.
"""

from cylcollide.bullet.mirror import Mirror

__all__ = ["Mirror"]
