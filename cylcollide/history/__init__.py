"""Recorded states of a world, and queries in the past, with a time for each ray."""

from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.rewind_limits import Admission, RewindLimits, estimate_time
from cylcollide.history.view_clock import ViewClock

__all__ = ["Admission", "MissExplanation", "PoseHistory", "RewindLimits", "ViewClock", "estimate_time"]
