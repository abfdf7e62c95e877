"""Worlds and snapshots of limbs, and the queries on both."""

from cylcollide.world.hit_world import HitWorld
from cylcollide.world.snapshot import Snapshot

__all__ = ["HitWorld", "Snapshot"]
