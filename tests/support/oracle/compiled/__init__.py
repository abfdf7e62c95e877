"""The oracle for many pairs of ray and limb: compiled, in double-double arithmetic with an error bound of its own.

It shares nothing with the library. `enclosures` is the arithmetic, `pairs` the question about one ray and one limb,
`shapes` what a limb is, `crowds` the loops over many. Where an error bound leaves a sign open, the answer is OPEN, and
the rational oracle (`support.oracle.any_shape`) has to decide.
"""

import pytest

pytest.importorskip("numba")
