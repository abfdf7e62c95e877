"""Tolerances and thresholds, each with its reason.

Nothing here computes. Kernels read these names as compile-time constants, so each is defined once.
"""

UNIT_ROUNDOFF = 2.0**-53
"""Relative rounding error of one float64 operation, u."""

ROUNDING_BOUND = 128.0 * UNIT_ROUNDOFF
"""K u: every float64 error of the cylinder kernels is at most that of growing the limb by K u (|origin| + extent).

The errors in `docs/numerics.md` add up to 90.1 u for wall and limit, 56.4 u for the caps and 103 u for sloping walls.
"""

LARGEST_NUMBER, SMALLEST_SIZE = 2.0**500, 2.0**-500
"""Range of numbers that are accepted: none is larger in magnitude, and no size smaller unless it is 0 (design.md, 3).

Squares, sums of three squares, fractions (at most 2**503 / 2**-500) and all fields of a hit are then finite.
"""

OFF_ORTHONORMAL = 1e-4
"""Largest deviation of a rotation matrix's column lengths from 1, and of their angles (twice that, in radians) from
right ones: float32 products of matrices along chains of bones in engines cost 1e-6; a scale of 1.001 is deliberate."""

MOVING_ROUNDING_BOUND = 96.0 * UNIT_ROUNDOFF
"""`ROUNDING_BOUND` for a flying bullet and a moving limb: delta = 96 u extent. In `docs/moving.md` displacements add
up to 67.6 u; the errors of coefficients are derived from them."""

CONTACT_ERROR = UNIT_ROUNDOFF
"""Largest error of an accurate time of contact, relative to a tick interval; 4 u are allowed with rounding of alpha."""

SMALLEST_SPAN = 2.0**-800
"""Least difference of times as a divisor in double-double: underflow then loses less than 2**-274 of a flight."""

SMALLEST_SAFE, LARGEST_SAFE = 1e-15, 1e20
"""Range of lengths that kernels compute with: products of twelve such lengths neither overflow nor lose a low word.

What lies outside (a direction of length 1e-40, a limb at 1e100 m) is left to exact arithmetic alone.
"""

SMALLEST_WAY, LARGEST_WAY = 1e-150, 1e150
"""Range of displacements whose squares float64 holds: the tree finds the boxes that such a ray hits, even if kernels
leave their limbs to exact arithmetic."""

UNTRUSTED = 1e100
"""Extent of a ray with a displacement in this range but not in that of kernels: their bounds of errors are infinite."""

SMALLEST_SQUARE = 1e-240
"""Least square of an outward direction that is normalised directly: the sum of squares of a shorter one may have lost
digits to underflow (significant ones are above 1e-308 u). Safe limbs stay above 1e-150 but within 1e-45 of an apex."""

SMALLEST_SINE_SQUARED = 2.0**-112
"""Least squared sine between an axis and the vector to a point whose distance from the axis is computed: the cross
product errs by 25 u² of the factors, which is 2⁻⁴⁵ of a product 2⁵⁶ times as small."""

NARROW_CONTACT = 2.0**-30
"""Width, relative to a tick interval, at which bounds of a contact are no longer narrowed: the order of limbs is then
open once in 10⁹, and one Newton step from there reaches the last digit."""

MOST_WINDOWS = 32
"""Most windows of a tick interval that are examined; two or three suffice unless several polynomials vanish."""

SLOPE_FLOOR = 1e-30
"""Replaces a vanishing rate along or across the axis. Over a safe length it moves a point by less than u times that
length."""

STEP_ERROR = 0.5 * UNIT_ROUNDOFF
"""A step t to a surface leaves out t² a / 2b, half the curvature over the slope: at most 0.3 u of the fraction."""

SLOPE_ERROR = 2.0**-10
"""The slope errs by at most 8.5 u of its size, the step by as much of its own: 0.27 u of the fraction if the ratio of
both, squared, is below 2⁻¹⁰."""

BOX_PAD = 2.0**-20
"""Boxes of the tree are grown by this, in its own frame of [-1, 1], and by this share of their distance outside: all
rounding of rays and boxes to float32 together displaces by at most 8 units of 2⁻²⁴, and this is 16. `docs/numerics.md`,
"Boxes"."""

STRETCHED = 64.0
"""If many boxes lie in a part this many times smaller than the whole, the frame of the tree fits these boxes."""

FARTHEST_BOX = 2.0**40
"""A box that is farther out, in the frame of the tree, counts as infinite: no product overflows float32."""

SMALLEST_IN_FRAME = 0.5
"""If all boxes of a tree together are shorter than this, in its frame, it gets a new one, where they are 1 or more."""

FARTHEST_START = 2.0**24
"""A ray that starts farther from the tree than this, in its frame, visits every box: float64 cannot move its start."""

BOX_FLOOR = 1e-200
"""Boxes are padded by at least this, in metres: a world of one point still has a size."""

STEEPEST_RECIPROCAL = 2.0**64
"""Replaces larger reciprocals of direction components: on its way to any box such a ray moves by less than the
pad."""

TREE_WIDTH = 8  # children per node: one AVX-512 register of float64, two of AVX2

LARGEST_BRANCH = 32  # items of a branch that is put into a tree as one: a character's limbs

SAH_BINS = 16  # along each axis; 8: boxes 1 to 2.5 % larger; 32: 0.6 to 0.8 % smaller, a build takes a third longer

DEEPEST_SAH = 48  # below this depth the build halves by count, which bounds the stack of every traversal

REBUILD_COST = 1.5  # boxes grown to this multiple of their built area cost rays 5 to 15 %: the tree is rebuilt

REBUILT_AT_ONCE = 1024  # with fewer limbs the update itself rebuilds the tree, which takes 0.2 milliseconds

FEW_MOVED = 0.25  # up to this share of the limbs, only the branches that lead to those that moved are fitted anew

MANY_ADDED = 0.25  # with more new limbs, relative to all, the tree is built anew rather than patched

RAYS_PER_TASK = 100_000  # most rays that are sorted together: 20,000 take 5 to 10 % longer each among 100,000 limbs

LEAST_RAYS_PER_TASK = 12500  # least rays of a chunk with several threads: half a millisecond of work

LIMBS_PER_THREAD = 2048  # most limbs that one thread places: a tenth of a millisecond of work; threads share more

MATRICES_PER_THREAD = 8192  # most matrices that one thread converts: a tenth of a millisecond; threads share more

SMALLEST_BATCH = 64  # fewer points are processed singly: buffers for many cost 5 µs

SMALLEST_STREAM = 32
"""Fewer rays traverse singly: a stream of lines is faster from 30 (17 limbs), 60 (300) or 12 on (17,000), one of thick
rays from 16 to 64 on, depending on the radius."""

FEW_LIMBS = 3  # up to so many limbs are tested by brute force, without the tree

MANY_RAYS = 1024  # from so many on, hits and copies of the rays have separate memory

BLOCK_RAYS = 1024  # rays that are copied, then processed while they are in the cache

SMALLEST_LIST = 8  # with fewer rays at a node they continue as pairs of a ray and a node

STREAM_RAYS = 4096  # rays that traverse the tree together

LIMBS_CROSSED = 8  # limbs per ray that buffers of queries for all limbs hold; with more, rays traverse singly

FEW_TO_SORT, MANY_TO_SORT = 4096, 16384  # fewer rays are not sorted; from the second number on by 16³ cells, else 4³

SMALL_WORLD = 256  # fewer limbs fit the first-level cache: rays are not sorted, and all octants traverse together

SMALLEST_KEPT, MOST_KEPT = 1 << 17, 1 << 27  # bytes: least size of a pooled buffer, and most of all pooled ones
