"""Engines for the tests of the benchmark: one wrong and slow, one that loses hits, two with limited capabilities."""

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

SMALL = Workload("small", 20, 7.0)


def silent(_):
    pass


class Inflated(OwnEngine):
    """Every limb is 20 % thicker, and each ray takes a millisecond."""

    name = "Inflated"

    def build(self, limbs):
        super().build(cc.Limbs.cylinders(limbs.p1, limbs.p2, 1.2 * limbs.radius))

    def cast_segments(self, starts, ends):
        time.sleep(1e-3 * len(starts))
        return super().cast_segments(starts, ends)


class SpheresOnly(OwnEngine):
    """Supports spheres only."""

    name = "Spheres"
    capabilities = engines.Capabilities(shapes=frozenset({cc.Shape.SPHERE}), inside="hit", accuracy=0.0)


class SmallOnly(OwnEngine):
    """Is practical for at most 100 limbs."""

    name = "Few"
    capabilities = replace(OwnEngine.capabilities, practical_limbs=100)


class DroppingEngine(OwnEngine):
    """This library, but every tenth hit is lost."""

    def cast_segments(self, starts, ends):
        hits = super().cast_segments(starts, ends)
        limb = hits.limb.copy()
        limb[np.flatnonzero(limb >= 0)[::10]] = -1
        return EngineHits(limb, hits.fraction, hits.position, hits.normal)


HERE = {"inflated": Inflated, "spheres": SpheresOnly, "few": SmallOnly}
"""The engines by name."""


def plant(patch: pytest.MonkeyPatch) -> None:
    """Make the runner find these engines by name, in addition to the installed ones."""
    patch.setattr(runner, "create", lambda name: HERE[name]() if name in HERE else engines.create(name))
