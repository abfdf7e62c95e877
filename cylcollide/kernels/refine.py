"""Refinement of a hit: the accurate fraction at which a ray crosses a face.

Verdict and face are already certain, and the middle of the bounds serves as a guess. One step from there, its residual
computed in double-double, is enough, except at a graze (`curve.py`; `docs/numerics.md`, "Accuracy of a hit").
"""

from cylcollide.kernels.curve import short_step
from cylcollide.kernels.dispatch import face_curve, graze_step
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, dd_add, two_sum
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined


@inlined
def face_crossing(
    ray: Ray, displacement: DoubleDoubleVector, guess: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The fraction at which one ray crosses a face of one limb, which it certainly does near `guess`."""
    origin = ray.origin
    curve = face_curve(origin, displacement, guess, limb, face)
    step, short = short_step(curve, guess)
    if short:
        return two_sum(guess, step)
    solved = graze_step(origin, displacement, guess, limb, face, entering)
    return dd_add((guess, 0.0), solved)
