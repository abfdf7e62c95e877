"""Small sweeps over poses of the humanoid on the installed PyBullet, shared by the tests that look at them."""

from functools import cache

from cylcollide.crosscheck.engine import BulletClient
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import run_plan

MOTIONS = ("walk", "run", "kick")


@cache
def swept(rays=4000, seed=1, engine_of=BulletClient):
    return run_plan(PosesPlan(rays, seed, MOTIONS, engine_of))


def timeless(result):
    """All numbers of a summary but the seconds."""
    return {name: value for name, value in result.summary.items() if name != "seconds"}
