"""Scoreboards of the artificial engines, shared by the tests of their counts and of the command."""

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint

import pytest

from cylcollide import engines
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.run import scoreboard as board
from cylcollide.crosscheck.run.scoreboard import SCORED_FAMILIES, scoreboard
from cylcollide.engines import registry

FAULTY = ("Exact", "Inflated", "Open", "Blind", "Single", "Forgetful", "Leaving", "Passing", "Short")
FAILING = ("Raising", "Panicking", "Balls", "Rayless")
RAYS = 200 * len(SCORED_FAMILIES)
SEED = 5
OURS = dict(registry._OURS)


@contextmanager
def planted_engines(*more):
    """Register only the artificial engines, ``more`` by name and place, and this library; timings are short."""
    with pytest.MonkeyPatch.context() as patch:
        points = [_point(name.lower(), f"support.faulty_engines:{name}Engine") for name in (*FAULTY, *FAILING)]
        points.append(_point("absent", "no_such_package.engine:Engine"))
        points += [_point(name, place) for name, place in more]
        patch.setattr(registry, "_OURS", {"cylcollide": registry._OURS["cylcollide"]})
        patch.setattr(registry, "entry_points", lambda group: points if group == engines.GROUP else [])
        patch.setattr(board, "TIMED_RAYS", 300)
        patch.setattr(board, "ROUNDS", 3)
        yield patch


@contextmanager
def shared_truths():
    """Draw each scene and compute its truth once for all engines."""
    truths: dict[int, Truth] = {}

    def truth_of(scene):
        if id(scene) not in truths:
            truths[id(scene)] = Truth(scene)
        return truths[id(scene)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "draw_chunk", cache(board.draw_chunk))
        patch.setattr(board, "Truth", truth_of)
        yield patch


def _point(name, place):
    return EntryPoint(name, place, engines.GROUP)


def scoreboard_by_name(*names, rays=240, seed=SEED):
    """Scores with the requested names as engine names, because all planted engines have the same name."""
    wanted = engines.names() if names == ("all",) else names
    return [replace(score, engine=name) for name, score in zip(wanted, scoreboard(names, rays, seed), strict=True)]


def verdicts(score):
    return {name: getattr(score, name) for name in ("missed", "phantom", "wrong_limb", "lost") if getattr(score, name)}
