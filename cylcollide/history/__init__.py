"""Recorded states of a world, and queries in the past: one time a ray."""

from cylcollide.history.limits import RewindLimits, estimate_time
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory

__all__ = ["MissExplanation", "PoseHistory", "RewindLimits", "estimate_time"]
