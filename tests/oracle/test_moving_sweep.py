"""The sweep of flying bullets finds planted faults in each field that it judges, and reports nothing else."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.moving_scenes import bullets_of, scene_of
from support.moving_sweep import FACES, first_by_rationals, judge_rows, run_chunk

from cylcollide._types import Face

pytestmark = [
    pytest.mark.long,
    pytest.mark.ci_long,
    pytest.mark.skipif(not IS_COMPILED, reason="the oracle takes machine code"),
]

FIELDS = ("hit", "limb", "tick", "face", "fraction", "alpha", "undecided")


class Claims(SimpleNamespace):
    """Columns of `MovingHits` that can be changed."""

    def __len__(self) -> int:
        return len(self.hit)


@pytest.fixture(scope="module")
def answered():
    """A scene, bullets, and their hits."""
    rng = np.random.default_rng([1, 1])
    scene = scene_of(rng, False)
    bullets = bullets_of(rng, scene, 200, False)
    hits = scene.history.cast_moving(bullets.points[:, 0], bullets.points[:, 1], *bullets.target.T)
    return scene, bullets, hits


def altered(hits, field: str, rows: np.ndarray) -> Claims:
    """A copy of the hits, wrong in one field of some rows."""
    claims = Claims(**{name: getattr(hits, name).copy() for name in FIELDS})
    if field == "miss":
        claims.hit[rows], claims.limb[rows] = False, -1
    elif field == "hit":
        claims.hit[rows], claims.limb[rows], claims.face[rows] = True, 0, Face.SIDE
        claims.fraction[rows], claims.tick[rows], claims.alpha[rows] = 0.5, 0, 0.5
    elif field == "limb":
        claims.limb[rows] = (claims.limb[rows] + 1) % 8
    elif field == "tick":
        claims.tick[rows] += 1
    elif field == "face":
        claims.face[rows] = np.where(claims.face[rows] == Face.SIDE, Face.CAP1, Face.SIDE)
    elif field == "fraction":
        claims.fraction[rows] += 2.0**-50  # 8 u
    else:
        claims.alpha[rows] += 2.0**-40
    return claims


@pytest.mark.parametrize("field", ["miss", "hit", "limb", "tick", "face", "fraction", "alpha"])
def test_planted_fault_is_found(answered, field: str):
    scene, bullets, hits = answered
    chosen = ~hits.hit if field == "hit" else hits.hit & (hits.face != Face.INSIDE)
    rows = np.flatnonzero(chosen)[:12]
    _, wrong = judge_rows(scene, bullets, altered(hits, field, rows))
    assert {i for i, _ in wrong} == set(rows.tolist())


def test_sturm_chains_agree_with_confirmed_hits(answered):
    scene, bullets, hits = answered
    left, wrong = judge_rows(scene, bullets, hits)
    assert wrong == []
    confirmed = np.setdiff1d(np.arange(len(hits)), left)[::4]
    for i in confirmed.tolist():
        found = first_by_rationals(scene, bullets.points[i], *bullets.target[i].tolist())
        assert hits.hit[i] == (found is not None)
        if found is not None:
            assert (hits.tick[i], hits.limb[i], hits.face[i]) == (found[0], found[1], found[2].face)


def test_chunks_are_right_and_have_every_case():
    total: Counter[str] = Counter()
    for chunk in (0, 1, 2, 3, 7):
        part = run_chunk(20261123, chunk, 400)
        assert part.cases == []
        for row in part.rows.values():
            total.update(row)
    assert min(total[face.name.lower()] for face in FACES) > 5
    assert 0.05 * total["bullets"] < total["rechecked"] < 0.5 * total["bullets"]
    assert total["by_rationals"] < 0.1 * total["bullets"]
