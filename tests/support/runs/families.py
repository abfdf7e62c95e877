"""Small runs by families on the installed PyBullet, shared by several tests."""

from dataclasses import replace
from functools import cache

from cylcollide.crosscheck.generate.families import FAMILIES
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.run import run_plan

# The margin sweep needs 66 calibrations, a whole batch 65,536 rays: tests run these families separately.
SAMPLED = tuple(family for family in FAMILIES if family not in ("margin-sweep", "batch-limits", "stale-boxes"))


PAGED = FamiliesPlan(("generic", "side-graze", "rim", "inside-start", "construction"), 3000, 3, tried=3)


@cache
def sampled():
    return run_plan(FamiliesPlan(SAMPLED, 20_000, 3, tried=16))


@cache
def paged():
    return run_plan(PAGED)


def with_summary(result, **fields):
    return replace(result, summary={**result.summary, **fields})
