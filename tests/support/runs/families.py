"""One small run by families on the installed PyBullet, shared by the tests that look at it."""

from functools import cache

from cylcollide.crosscheck.generate.families import FAMILIES
from cylcollide.crosscheck.run.families import Plan, run_families

# The margin sweep needs 66 calibrations, a whole batch 65,536 rays: tests ask for them by themselves.
SAMPLED = tuple(family for family in FAMILIES if family not in ("margin-sweep", "batch-limits", "stale-boxes"))


@cache
def sampled():
    return run_families(Plan(SAMPLED, 20_000, 3, tried=16))
