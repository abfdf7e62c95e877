"""Exact drop-in replacements for PyBullet's ray tests on a live client, and a client's bodies as rigs.

`Mirror(client)` reads the bodies of a client, follows their poses, and has `rayTest` and `rayTestBatch` with PyBullet's
arguments and result tuples. `with patched():` puts these in the place of PyBullet's own for a program that is not
edited. `rig_of(client, body)` returns a body as a `Rig`, `poses_of(client, body)` the present poses of its bones.
`draw_rewound(client, history, time)` draws the limbs of a `PoseHistory` at a time beside the present ones. Importing
this does not need PyBullet; the functions do. The import binds PyBullet's functions, before a program replaces them.
"""

from contextlib import suppress
from importlib import import_module

from cylcollide.bullet.debug_draw import draw_rewound
from cylcollide.bullet.mirror import Mirror
from cylcollide.bullet.patching import patch, patched, unpatch
from cylcollide.bullet.rig_of import poses_of, rig_of
from cylcollide.process.signatures import shown_short

__all__ = ["Mirror", "draw_rewound", "patch", "patched", "poses_of", "rig_of", "unpatch"]

with suppress(ImportError):
    import_module("cylcollide._pybullet")

for _thing in (Mirror, draw_rewound, patch, patched, poses_of, rig_of, unpatch):
    shown_short(_thing)
