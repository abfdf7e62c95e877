"""A small sweep over poses of the humanoid on the installed PyBullet, shared by several tests."""

from functools import cache

import numpy as np

from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import run_plan

PLAN = PosesPlan(2500, 7, ("walk", "cartwheel"))


@cache
def swept():
    return run_plan(PLAN)


def timeless(result):
    """The summary without the seconds."""
    return {name: value for name, value in result.summary.items() if name != "seconds"}


def right_hits(tally):
    """Graze depth, distance error in metres and tilt in degrees of the hits of the right limb."""
    kind, amount = tally.column("kind"), tally.column("amount")
    tilted, along = kind == Kind.NORMAL, np.isin(kind, (Kind.EARLY, Kind.LATE))
    return tally.column("depth")[tilted], amount[along], np.degrees(amount[tilted])
