"""Artificial engines with one known fault each; the exact one has none."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import cylcollide as cc
from cylcollide.crosscheck.engine import NamedEngine
from cylcollide.engines import EngineHits
from cylcollide.engines.own import OwnEngine


class ExactEngine(OwnEngine):
    """This library in the role of another engine, without any fault."""

    name = "planted"
    capabilities = replace(OwnEngine.capabilities, shapes=frozenset({cc.Shape.CYLINDER}))
    inside = "hit"
    signed_distances = None

    def build(self, limbs):
        super().build(self.solids(limbs))

    def solids(self, limbs):
        return limbs

    def cast_segments(self, starts, ends):
        hits = self.world.cast_segments(starts, ends, inside=self.inside)
        return EngineHits(hits.limb.copy(), np.where(hits.hit, hits.fraction, np.nan), hits.position, hits.normal)


@dataclass(frozen=True)
class Planted(NamedEngine):
    """Makes an artificial engine without the registry."""

    name: str = "planted"
    factory: Callable = ExactEngine

    def __call__(self, _setup):
        return self.factory()


def flipped_world(every):
    """A HitWorld that reports one of `every` hits as a miss."""

    class Flipped(cc.HitWorld):
        def cast_segments(self, starts, ends, **options):
            hits = super().cast_segments(starts, ends, **options)
            limb = hits._row
            limb[np.flatnonzero(limb >= 0)[::every]] = -1
            return hits

    return Flipped


class InflatedEngine(ExactEngine):
    """Every limb is 1 % thicker and longer."""

    def solids(self, limbs):
        grow = 0.005 * (limbs.p2 - limbs.p1)
        return cc.Limbs.cylinders(limbs.p1 - grow, limbs.p2 + grow, 1.01 * limbs.radius)


class HairlineEngine(ExactEngine):
    """Every limb is thicker by a relative 1e-13, which float64 rounding can explain."""

    def solids(self, limbs):
        return cc.Limbs.cylinders(limbs.p1, limbs.p2, limbs.radius * (1 + 1e-13))


class OpenEngine(ExactEngine):
    """Limbs are thin tubes, open at both ends."""

    def solids(self, limbs):
        return cc.Limbs.tubes(limbs.p1, limbs.p2, limbs.radius, limbs.radius * (1 - 1e-9))


class BlindEngine(ExactEngine):
    """Limb 3, if there is one, is never hit."""

    blind = 3

    def cast_segments(self, starts, ends):
        limbs = self.world.limbs
        if len(limbs) <= self.blind:
            return super().cast_segments(starts, ends)
        left = np.delete(np.arange(len(limbs)), self.blind)
        hits = cc.HitWorld(limbs[left]).cast_segments(starts, ends)
        limb = np.where(hits.hit, left[hits.limb], -1).astype(np.int32)
        return EngineHits(limb, np.where(hits.hit, hits.fraction, np.nan), hits.position, hits.normal)


class SingleEngine(ExactEngine):
    """Distances are rounded to float32."""

    def cast_segments(self, starts, ends):
        found = super().cast_segments(starts, ends)
        fraction = found.fraction.astype(np.float32).astype(np.float64)
        return EngineHits(found.limb, fraction, starts + fraction[:, None] * (ends - starts), found.normal)


class LossyEngine(ExactEngine):
    """Every thousandth ray of a batch is a miss."""

    def cast_segments(self, starts, ends):
        return self.without(super().cast_segments(starts, ends), np.arange(1, len(starts) + 1) % 1000 == 0)

    def without(self, found, lost):
        return EngineHits(
            np.where(lost, -1, found.limb).astype(np.int32),
            np.where(lost, np.nan, found.fraction),
            np.where(lost[:, None], np.nan, found.position),
            np.where(lost[:, None], np.nan, found.normal),
        )


class ForgetfulEngine(LossyEngine):
    """Every thousandth ray over all batches is lost."""

    asked = 0

    def cast_segments(self, starts, ends):
        number = self.asked + np.arange(1, len(starts) + 1)
        self.asked += len(starts)
        return self.without(ExactEngine.cast_segments(self, starts, ends), number % 1000 == 0)


class LeavingEngine(ExactEngine):
    """No fault: a ray that starts inside hits where it leaves the limb."""

    inside = "exit"


class PassingEngine(ExactEngine):
    """No fault: a segment ignores the limb that it starts in."""

    inside = "ignore"


class ShortEngine(ExactEngine):
    """The last row of a batch is missing, and the first one has the index of a limb that does not exist."""

    def cast_segments(self, starts, ends):
        found = super().cast_segments(starts, ends)
        found.limb[0] = len(self.world.limbs)
        return EngineHits(*(column[:-1] for column in vars(found).values()))


class RaisingEngine(ExactEngine):
    """A segment of length zero raises an error."""

    def cast_segments(self, starts, ends):
        if (starts == ends).all(axis=1).any():
            raise ArithmeticError("a direction\nof length 0")
        return super().cast_segments(starts, ends)


class PanicError(BaseException):
    """Like panics of Rust engines, not an Exception."""


class PanickingEngine(ExactEngine):
    """It panics for worlds of several limbs."""

    def build(self, limbs):
        if len(limbs) > 1:
            raise PanicError("index out of bounds")
        super().build(limbs)


class BallsEngine(ExactEngine):
    """It supports spheres only."""

    capabilities = replace(ExactEngine.capabilities, shapes=frozenset({cc.Shape.SPHERE}))


class RaylessEngine(ExactEngine):
    """It measures distances only."""

    capabilities = replace(ExactEngine.capabilities, rays=False)

    def cast_segments(self, *_):
        raise ValueError("planted: expected no segments, it casts no rays")


class WobblyEngine(ExactEngine):
    """Every verdict is right, but hits are 2 cm off, early and late in turn, and all normals are the same."""

    def cast_segments(self, starts, ends):
        found = super().cast_segments(starts, ends)
        off = np.where(np.arange(len(starts)) % 2, 0.02, -0.02) / np.linalg.norm(ends - starts, axis=1)
        fraction = found.fraction + off
        normal = np.where((found.limb >= 0)[:, None], [0.0, 0.6, 0.8], np.nan)
        return EngineHits(found.limb, fraction, starts + fraction[:, None] * (ends - starts), normal)
