"""Small runs on the installed PyBullet, shared by several tests, and their cases."""

from dataclasses import replace
from functools import cache

import numpy as np

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.engine import DEFAULT, BulletClient
from cylcollide.crosscheck.generate.families import FAMILIES, LEAST
from cylcollide.crosscheck.run.chunk import compute_chunk
from cylcollide.crosscheck.run.plan import FamiliesPlan, PosesPlan
from cylcollide.crosscheck.run.run import run_plan

# Families -------------------------------------------------------------------------------------------------------------

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


# Poses ----------------------------------------------------------------------------------------------------------------

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


# Cases ----------------------------------------------------------------------------------------------------------------


@cache
def cases(family: str, rays: int = 600) -> list[Case]:
    """All cases that one chunk of a family keeps."""
    plan = FamiliesPlan((family,), max(rays, LEAST) if family == "batch-limits" else rays, 7)
    return [Case.read(record) for record in compute_chunk(plan, plan.keys[0]).record["cases"]]


def of_each_kind_and_cause(found: list[Case]) -> list[Case]:
    """The first case of every kind and cause."""
    first: dict[tuple[str, str], Case] = {}
    for case in found:
        first.setdefault((case.kind, case.cause), case)
    return list(first.values())


def made(p1, p2, radius, start, end, *, kind, engine_of=BulletClient, **more):
    """A case of these limbs and this segment, with the present results of library and engine."""
    blank = Case(
        **{"family": "made", "kind": kind, "cause": "", "setup": more.pop("setup", DEFAULT)},
        **dict.fromkeys(("seed", "chunk", "scene", "row"), 0),
        **{"p1": tuple(p1), "p2": tuple(p2), "radius": tuple(radius), "start": start, "end": end},
        **dict.fromkeys(("limb_true", "limb_engine"), -1),
        **dict.fromkeys(("fraction_true", "fraction_engine", "normal_true", "normal_engine")),
        **dict.fromkeys(("amount", "measured", "bound")),
        **more,
    )
    (case,) = (now for now in recast(blank, engine_of).now if now.kind == kind)
    return case
