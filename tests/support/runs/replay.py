"""Cases of a small run on the installed PyBullet, shared by the tests that replay them."""

from functools import cache

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.engine import DEFAULT, BulletClient
from cylcollide.crosscheck.generate.families import LEAST
from cylcollide.crosscheck.run.chunk import compute_chunk
from cylcollide.crosscheck.run.plan import FamiliesPlan


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
