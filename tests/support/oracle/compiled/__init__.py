"""The compiled oracle for many pairs of ray and limb, in double-double arithmetic with its own error bounds.

It shares nothing with the library. `enclosures` is the arithmetic, `pairs` evaluates one ray and one limb, `chords`
clips the ray by surfaces, `crowds` are the loops. If an error bound does not decide a sign, the result is OPEN, and the
rational oracle (`support.oracle.any_shape`) decides.
"""

import pytest

pytest.importorskip("numba")
