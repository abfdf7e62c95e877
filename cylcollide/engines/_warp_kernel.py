# mypy: ignore-errors
# ruff: noqa: ANN202, UP018, RUF046  # float(...) and int(...) declare Warp variables
# Warp reads the annotations as its own types, and compiles the source of the functions.
"""The kernel of the Warp engine: the first cylinder along each segment, in float32."""

import warp as wp


@wp.kernel
def closest(
    tree: wp.uint64,
    p1: wp.array(dtype=wp.vec3),
    p2: wp.array(dtype=wp.vec3),
    radius: wp.array(dtype=wp.float32),
    starts: wp.array(dtype=wp.vec3),
    along: wp.array(dtype=wp.vec3),
    limb: wp.array(dtype=wp.int32),
    fraction: wp.array(dtype=wp.float32),
    normal: wp.array(dtype=wp.vec3),
):
    """Intersect the slab between the caps, the wall, and [0, closest hit so far]; a start inside hits at fraction 0."""
    ray = wp.tid()
    start = starts[ray]
    d = along[ray]
    best = float(1.0)
    found = int(-1)
    n_found = wp.vec3()
    dd = wp.dot(d, d)
    candidate = int(0)
    query = wp.bvh_query_ray(tree, start, d)
    while wp.bvh_query_next(query, candidate, best):
        axis = p2[candidate] - p1[candidate]
        half = 0.5 * wp.length(axis)
        a = wp.normalize(axis)
        centre = 0.5 * (p1[candidate] + p2[candidate])
        # From the point closest to the centre: float32 would cancel far from it.
        shift = wp.dot(centre - start, d) / dd
        o = (start - centre) + shift * d
        oa = wp.dot(o, a)
        da = wp.dot(d, a)
        near = -shift
        far = best - shift
        n_near = wp.vec3()
        if da != 0.0:
            t1 = (-half - oa) / da
            t2 = (half - oa) / da
            if wp.min(t1, t2) > near:
                near = wp.min(t1, t2)
                n_near = -wp.sign(da) * a
            far = wp.min(far, wp.max(t1, t2))
        elif wp.abs(oa) > half:
            far = near - 1.0
        # The wall: |across + t along_across|² = r²
        oc = o - oa * a
        dc = d - da * a
        qa = wp.dot(dc, dc)
        qb = wp.dot(oc, dc)
        r = radius[candidate]
        if qa > 0.0:
            # The least distance from the axis, squared, without cancellation.
            least = oc - (qb / qa) * dc
            half_squared = (r * r - wp.dot(least, least)) / qa
            if half_squared < 0.0:
                far = near - 1.0
            else:
                reach = wp.sqrt(half_squared)
                if -qb / qa - reach > near:
                    near = -qb / qa - reach
                    n_near = (oc + near * dc) / r
                far = wp.min(far, -qb / qa + reach)
        elif wp.dot(oc, oc) > r * r:
            far = near - 1.0
        if near <= far:
            best = near + shift
            found = candidate
            n_found = n_near
    limb[ray] = found
    fraction[ray] = best
    normal[ray] = n_found
