"""The worst cases in three dimensions, each beside its cut, through the view that the humanoid's page has."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case, Vector
from cylcollide.crosscheck.judge.result import Poses
from cylcollide.crosscheck.report.families.case_choice import Drawn
from cylcollide.crosscheck.report.families.close_up import cut
from cylcollide.crosscheck.report.html import bare
from cylcollide.crosscheck.report.humanoid.view_3d import scene
from cylcollide.crosscheck.report.worst import WorstRay

FARTHER = 1.3
"""A single limb fills the view more than a character does: from so much farther off it is seen whole."""


def views(calibrations: Sequence[dict[str, Any]], cases: Sequence[Case]) -> dict[str, Any]:
    """Return what the page needs to draw the cases, as :func:`humanoid.view_3d.scene` does."""
    drawn: dict[str, Any] = {"poses": {}, "rays": []}
    for rank, case in enumerate(cases, 1):
        place, name = Drawn.of(case, calibrations), str(rank)
        view = scene(_poses(place), [_ray(place, rank)])
        ray = view["rays"][0]
        camera = ray["layout"]["camera"]
        camera["eye"] = {axis: FARTHER * eye for axis, eye in camera["eye"].items()}
        drawn["poses"][name] = view["poses"]["0"]
        drawn["rays"].append({**ray, "pose": name, "section": bare(cut(place))})
    return drawn


def _poses(place: Drawn) -> Poses:
    names = tuple(f"limb {limb}" for limb in range(len(place.p1)))
    return Poses(("",), np.zeros(1), place.p1[None], place.p2[None], np.array(place.case.radius), names)


def _ray(place: Drawn, rank: int) -> WorstRay:
    """A case as the 3D view takes it; a segment of no length gets one that cannot be seen."""
    case = place.case
    end = place.end if place.length else place.start + 1e-6 * place.radius * place.direction
    return WorstRay(
        rank=rank,
        ray=case.row,
        kind=case.kind,
        family=case.family,
        pose=0,
        motion="",
        time=0.0,
        severity=abs(case.amount or 0.0),
        start=_vector(place.start),
        end=_vector(end),
        limb_true=case.limb_true,
        limb_engine=case.limb_engine,
        fraction_true=math.nan if case.fraction_true is None else case.fraction_true,
        fraction_engine=math.nan if case.fraction_engine is None else case.fraction_engine,
        position_true=_vector(place.hit("true")),
        position_engine=_vector(place.hit("engine")),
        normal_true=_vector(place.normal("true")),
        normal_engine=_vector(place.normal("engine")),
    )


def _vector(point: Float64Array | None) -> Vector:
    """Three Python numbers; nan for no point."""
    x, y, z = (math.nan,) * 3 if point is None else point.tolist()
    return x, y, z
