"""Recorded states of a world, and queries in the past: one time a ray."""

from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.rewind_limits import RewindLimits, estimate_time

__all__ = ["MissExplanation", "PoseHistory", "RewindLimits", "estimate_time"]
