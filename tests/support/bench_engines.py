"""Engines for the tests of the benchmark: a wrong and slow one, one that forgets, two that cannot take part."""

import time
from dataclasses import replace

import numpy as np
import pytest

import cylcollide as cc
from cylcollide import engines
from cylcollide.bench import runner
from cylcollide.bench.workloads import Workload
from cylcollide.engines import EngineHits
from cylcollide.engines.own import OwnEngine

SMALL = Workload("small", "20 humanoids", 20, 7.0)


def silent(_):
    pass


class Inflated(OwnEngine):
    """Every limb a fifth thicker, and slow: a millisecond a ray."""

    name = "Inflated"

    def build(self, limbs):
        super().build(cc.Limbs.cylinders(limbs.p1, limbs.p2, 1.2 * limbs.radius))

    def cast_segments(self, starts, ends):
        time.sleep(1e-3 * len(starts))
        return super().cast_segments(starts, ends)


class SpheresOnly(OwnEngine):
    """Holds no cylinder."""

    name = "Spheres"
    capabilities = engines.Capabilities(shapes=frozenset({cc.Shape.SPHERE}), inside="hit", accuracy=0.0)


class FewOnly(OwnEngine):
    """Does not like crowds."""

    name = "Few"
    capabilities = replace(OwnEngine.capabilities, practical_limbs=100)


class Forgetful(OwnEngine):
    """Ourselves, but every tenth hit is lost."""

    def cast_segments(self, starts, ends):
        hits = super().cast_segments(starts, ends)
        limb = hits.limb.copy()
        limb[np.flatnonzero(limb >= 0)[::10]] = -1
        return EngineHits(limb, hits.fraction, hits.position, hits.normal)


HERE = {"inflated": Inflated, "spheres": SpheresOnly, "few": FewOnly, "forgetful": Forgetful}
"""The engines by name."""


def plant(patch: pytest.MonkeyPatch) -> None:
    """Let the runner find these engines by their names, beside those that are installed."""
    patch.setattr(runner, "create", lambda name: HERE[name]() if name in HERE else engines.create(name))
