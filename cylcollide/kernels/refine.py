"""Where exactly does a ray cross a face?

Verdict and face are known when this is called, and so is a guess: the middle of the bracket that the bounds give. One
step from there is enough, but for a graze (`curve.py`; `docs/numerics.md`, "Accuracy of a hit").
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
    """The fraction at which one ray crosses a face of one limb that it certainly crosses near `guess`."""
    origin = ray.origin
    curve = face_curve(origin, displacement, guess, limb, face)
    step, short = short_step(curve, guess)
    if short:
        return two_sum(guess, step)
    solved = graze_step(origin, displacement, guess, limb, face, entering)
    return dd_add((guess, 0.0), solved)
