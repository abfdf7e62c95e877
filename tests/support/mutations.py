"""The rows of `project.test_mutations`: which expression of the package is broken, and which checks must see it.

To add a row: a file of the package, a text that occurs in it exactly once, and what to put in its place.
"""

from support.judge_mutations import JUDGED
from support.moving_mutations import MOVED, MOVED_SEEN_BY
from support.mutation import Mutation

import cylcollide as cc

S = cc.Shape


CYLINDER, REVOLUTION, BALL, BOX = (f"exact/{name}.py" for name in ("cylinder", "revolution", "ball", "box"))
K_CYLINDER, K_REVOLUTION, K_CAPSULE, K_BOX, K_LINE, K_CURVE = (
    f"kernels/{name}.py" for name in ("cylinder", "revolution", "capsule", "box", "line", "curve")
)
ORDER, LINE, FRAME = (f"exact/{name}.py" for name in ("order", "line", "frame"))
INSIDE_POLICY, CLOSEST = "kernels/inside_policy.py", "kernels/closest.py"
INPUTS, REFINE, STREAM, OUTPUT = (
    "query/loops/inputs.py",
    "query/loops/refine.py",
    "query/loops/stream.py",
    "query/loops/output.py",
)

THOROUGH = [
    "tests/oracle/test_shape_oracle.py::test_by_hand",
    "tests/limbs/test_faces.py::test_by_hand",
    "tests/limbs/test_explain.py::test_by_hand",
    "tests/limbs/test_explain.py::test_clearance_is_the_growth_that_flips_the_verdict",
    "tests/query/test_shapes_exact.py",
]
"""What sees a broken shape; run until the first failure, cheap checks first."""

BROKEN: dict[tuple[S, str], Mutation] = {
    # exact twins
    (S.CYLINDER, "radius one"): Mutation(CYLINDER, "        (r,) = frame.radii\n", "        r = 1\n"),
    (S.CYLINDER, "half a cap"): Mutation(
        FRAME, "self.top, Face.CAP1, Face.CAP2)", "self.top - 1, Face.CAP1, Face.CAP2)"
    ),
    (S.CYLINDER, "caps swapped"): Mutation(FRAME, "Face.CAP1, Face.CAP2)", "Face.CAP2, Face.CAP1)"),
    (S.TUBE, "bore of the outer radius"): Mutation(CYLINDER, "inner * inner * frame.top", "inner * r * frame.top"),
    (S.TUBE, "bore is a side"): Mutation(CYLINDER, "face=Face.BORE", "face=Face.SIDE"),
    (S.TUBE, "bore filled"): Mutation(CYLINDER, ', Bore("bore", bore)', ""),
    (S.TAPERED, "taper turned round"): Mutation(REVOLUTION, "frame.top, r2 - r1", "frame.top, r1 - r2"),
    (S.TAPERED, "slope forgotten"): Mutation(REVOLUTION, "start * change, change * change", "start * change, 0"),
    (S.ELLIPSOID, "half the room"): Mutation(REVOLUTION, "2 * r * r * frame.top", "r * r * frame.top"),
    (S.ELLIPSOID, "hyperboloid"): Mutation(REVOLUTION, "-4 * r * r", "4 * r * r"),
    (S.CAPSULE, "second ball at p1"): Mutation(BALL, "square - top * top, top, -1", "square, 0, -1"),
    (S.CAPSULE, "balls swapped"): Mutation(BALL, "(first,), (last,)", "(first,), (first,)"),
    (S.CAPSULE, "ball is a side"): Mutation(
        BALL, 'name="ball at p1", face=Face.CAP1', 'name="ball at p1", face=Face.SIDE'
    ),
    (S.SPHERE, "bigger"): Mutation(BALL, "dot(offset, offset) - r * r", "dot(offset, offset) - r * r - 1"),
    (S.SPHERE, "a sign"): Mutation(BALL, "dot(offset, step), dot", "-dot(offset, step), dot"),
    (S.BOX, "a face too far"): Mutation(BOX, "dot(y, step), 2 * b", "dot(y, step), 2 * b + 1"),
    (S.BOX, "faces swapped"): Mutation(BOX, "Face.NEG_Z, Face.POS_Z", "Face.POS_Z, Face.NEG_Z"),
    (S.BOX, "an axis twice"): Mutation(BOX, "dot(z, offset) + c", "dot(y, offset) + c"),
    # records
    (S.CYLINDER, "grows across only"): Mutation("shapes.py", "p1=solids.p1 - step, ", ""),
    (S.TUBE, "bore widens"): Mutation("shapes.py", "tubes.radius2 - more", "tubes.radius2 + more"),
    (S.TAPERED, "tilt the other way"): Mutation(
        "shapes.py", "np.where(slope < 0.0, larger, 1.0 / larger),", "np.where(slope > 0.0, larger, 1.0 / larger),"
    ),
    (S.ELLIPSOID, "no twin of its own"): Mutation("shapes.py", "lambda n: Ellipsoid(", "lambda n: Cylinder("),
    (S.CAPSULE, "a sphere when long"): Mutation("shapes.py", "if n.p1 != n.p2 else", "if n.p1 == n.p2 else"),
    (S.SPHERE, "shrinks"): Mutation("shapes.py", "balls.radius + more", "balls.radius - more"),
    (S.BOX, "grows by half"): Mutation("shapes.py", "grown[:, 9:] += more", "grown[:, 9:] += 0.5 * more"),
    # kernels
    (S.CYLINDER, "kernel: caps swapped"): Mutation(
        K_LINE, "select(forward, CAP1, CAP2)", "select(forward, CAP2, CAP1)"
    ),
    (S.CYLINDER, "kernel: never shrunk"): Mutation(
        K_LINE, "radius + delta, radius - delta", "radius + delta, radius + delta"
    ),
    (S.TUBE, "kernel: bore of the outer radius"): Mutation(
        K_CYLINDER, "wall(approach, limb.radius2, line.delta)", "wall(approach, limb.radius, line.delta)"
    ),
    (S.TUBE, "kernel: bore is a side"): Mutation(
        K_CYLINDER,
        "select(bore.inner[0] < whole.inner[1], BORE, last)",
        "select(bore.inner[0] < whole.inner[1], SIDE, last)",
    ),
    (S.TUBE, "kernel: a normal out of the bore"): Mutation(K_CYLINDER, "return -x, -y, -z", "return x, y, z"),
    (S.TUBE, "kernel: a bore that holds points"): Mutation(K_CYLINDER, "limb.radius2 - distance)", "distance)"),
    (S.TAPERED, "kernel: taper turned round"): Mutation(K_REVOLUTION, "(radius2 - radius1) /", "(radius1 - radius2) /"),
    (S.TAPERED, "kernel: half the slope"): Mutation(K_REVOLUTION, "2.0 * mean * slope", "mean * slope"),
    (S.TAPERED, "kernel: a level normal"): Mutation(K_REVOLUTION, "point.taper_along * size", "0.0 * size"),
    (S.ELLIPSOID, "kernel: hyperboloid"): Mutation(K_REVOLUTION, "0.0, -ratio * ratio", "0.0, ratio * ratio"),
    (S.ELLIPSOID, "kernel: length and width swapped"): Mutation(
        K_REVOLUTION, "ratio = radius / half_length", "ratio = half_length / radius"
    ),
    (S.ELLIPSOID, "kernel: the poles' normals swapped"): Mutation(
        K_REVOLUTION, "2.0 * point.radius * point", "-2.0 * point.radius * point"
    ),
    (S.CAPSULE, "kernel: second ball at p1"): Mutation(K_CAPSULE, "ball(ray, limb.p2,", "ball(ray, limb.p1,"),
    (S.CAPSULE, "kernel: balls swapped"): Mutation(
        K_CAPSULE, "select(high < -half_length, CAP1,", "select(high < -half_length, CAP2,"
    ),
    (S.SPHERE, "kernel: half as large"): Mutation(
        K_CAPSULE, "frame.centre, frame.radius,", "frame.centre, 0.5 * frame.radius,"
    ),
    (S.SPHERE, "kernel: a ball is a cap"): Mutation(
        K_CAPSULE, "side = broadcast_like(SIDE,", "side = broadcast_like(CAP1,"
    ),
    (S.SPHERE, "kernel: points a radius too far"): Mutation(
        "kernels/dispatch.py", "return distance - limb.radius", "return distance - 2.0 * limb.radius"
    ),
    (S.BOX, "kernel: a face too far"): Mutation(K_BOX, "rate_z, half[2]", "rate_z, half[1]"),
    (S.BOX, "kernel: faces swapped"): Mutation(
        K_BOX, "select(rate > 0.0, low, low + 1.0)", "select(rate > 0.0, low + 1.0, low)"
    ),
}
"""Shape and what is wrong with it. At least two rows a shape."""

TOGETHER = ["tests/runtime/test_simd_memory.py", "tests/query/test_stream_sizes.py"]
IN_ORDER = [
    "tests/query/test_masks_and_filters.py",
    "tests/query/test_shapes_exact.py::test_mixed_worlds_credit_in_exact_order",
]
SEEN_BY = {
    **MOVED_SEEN_BY,
    "face crossing": [
        "tests/query/test_shapes_exact.py::test_every_shape_and_family_row_by_row",
        "tests/kernels/test_extreme_inputs.py",
    ],
    "normals": ["tests/kernels/test_normals.py"],
    "surfaces": ["tests/query/test_positions_and_normals.py"],
    "hit bounds": THOROUGH,
    "closer": IN_ORDER,
    "boxes": ["-m", "long", "tests/bvh/test_no_hit_is_culled.py"],
    "packed": TOGETHER,
    "stream": TOGETHER,
    "pairs": TOGETHER,
    "refine": TOGETHER,
    "brute force": TOGETHER,
    "chords": ["tests/query/test_chords.py"],
    "chord ends": ["tests/query/test_chord_ends.py", "-k", "depend or adversarial or second"],
    "judge": ["tests/characters/test_policy_verdicts.py"],
    "points": ["tests/query/test_points.py"],
    "received": ["tests/query/test_validate.py"],
    "split": ["tests/bvh/test_sah.py"],
    "resolved": ["tests/kernels/test_extreme_inputs.py", "tests/query/test_positions_and_normals.py"],
}
"""What a row of `SHARED` is about, and the checks that must see it."""

SHARED: dict[str, Mutation] = {
    # kernels
    "face crossing: a step the wrong way": Mutation(K_CURVE, "step = -0.5 * curve", "step = 0.5 * curve"),
    "face crossing: never solved in full": Mutation("kernels/refine.py", "    if short:\n", "    if True:\n"),
    "face crossing: a bore is entered": Mutation(K_CYLINDER, "not entering", "entering"),
    "surfaces: grazes stepped over": Mutation("query/loops/surface.py", "unsolved = ~solved &", "unsolved = 0 &"),
    "surfaces: one that is queued alone is forgotten": Mutation(
        "query/loops/surface.py", "        if k > 0:", "        if k > 1:"
    ),
    "surfaces: a step not taken": Mutation("kernels/surface.py", " + step * displacement[0]", ""),
    "normals: overflow": Mutation("kernels/axis.py", "if limb.frame.extent < inf:", "if limb.frame.extent <= inf:"),
    "hit bounds: behind the limit": Mutation(
        INSIDE_POLICY, "logical_not(empty(inner)) & (inner[0] <= ray.limit)", "logical_not(empty(inner))"
    ),
    "hit bounds: left behind the limit": Mutation(
        INSIDE_POLICY, "left = inside & (outer[1] <= ray.limit)", "left = inside"
    ),
    "closer: the last limb is first": Mutation(
        CLOSEST, "(bounds.upper < best.upper) |", "(bounds.upper > best.upper) |"
    ),
    "closer: no rivals": Mutation(CLOSEST, "(best.next_possible < inf) &", "(best.next_possible < -inf) &"),
    # the tree
    "boxes: no pad": Mutation("constants.py", "BOX_PAD = 2.0**-20", "BOX_PAD = 0.0"),
    "boxes: loose": Mutation("constants.py", "BOX_PAD = 2.0**-20", "BOX_PAD = 0.25"),
    "boxes: a reach too short": Mutation("bvh/traverse.py", "(1.0 + BOX_PAD) + BOX_PAD", "(1.0 - BOX_PAD) - BOX_PAD"),
    # many rays together
    "packed: a lane off": Mutation(
        "runtime/simd.py",
        "[first : first + LANES][np.asarray(truth)]",
        "[first + 1 : first + 1 + LANES][np.asarray(truth)]",
    ),
    "stream: the last ray of a list is lost": Mutation(
        "bvh/stream.py",
        "listed = lanes < broadcast(np.float32(end - position))",
        "listed = lanes < broadcast(np.float32(end - position - 1))",
    ),
    "stream: the last ray of a short list is lost": Mutation(
        "bvh/stream.py",
        "lanes < broadcast(np.float32(ray_count - k))",
        "lanes < broadcast(np.float32(ray_count - k - 1))",
    ),
    "stream: pairs that are left over are lost": Mutation(
        "bvh/stream.py", "queued[0] >= STEP or height == 0 else -1", "queued[0] >= STEP else -1"
    ),
    "pairs: items are taken for nodes": Mutation(
        "bvh/ray_node_pairs.py", "overlaps & logical_not(is_item))", "overlaps)"
    ),
    "stream: the last answer is not written": Mutation(OUTPUT, "LANES, end - first)", "LANES, end - first - 1)"),
    "stream: the last of those in order is not written": Mutation(
        OUTPUT, "base, full, count, state", "base, full + 1, count, state"
    ),
    "stream: all are written over the first": Mutation(OUTPUT, "i + first, hits))", "i, hits))"),
    "stream: an untrusted ray is sure": Mutation(STREAM, "NEXT_POSSIBLE] = -inf", "NEXT_POSSIBLE] = inf"),
    "stream: any hit, never undecided": Mutation(OUTPUT, "& (found[NEXT_POSSIBLE] < inf)", "& False"),
    # chords of many rays
    "chords: of the first ray of a stream": Mutation(OUTPUT, "number[base + state.crossed[k, 0]]", "number[base]"),
    "chords: an untrusted ray crosses nothing": Mutation(
        OUTPUT, "if state.best[row, NEXT_POSSIBLE] < 0.0:", "if False:"
    ),
    "chords: no room for more": Mutation("query/chords.py", "if recorded <= len(crossed):", "if True:"),
    "chords: tubes end at their bore": Mutation("query/loops/chords.py", "which += 2 * int(", "which += 0 * int("),
    "chords: rows of each chunk begin at nothing": Mutation(
        "query/loops/columns.py", "part.offsets[:-1] + begin", "part.offsets[:-1]"
    ),
    # ends of chords
    # which limb counts
    **JUDGED,
    **MOVED,
    # rows resolved in exact arithmetic
    "resolved: chords left undecided": Mutation(
        "query/exact_fallback.py", "if complete_chords(", "if 0 * complete_chords("
    ),
    "resolved: chords that are known forgotten": Mutation(
        "query/exact_fallback.py",
        "_put_rows(chords, known, take_chords(resolved.chords, resolved.exact_chord))",
        "pass",
    ),
    "resolved: the first hits another's limb": Mutation(
        "query/exact_fallback.py", "table, [limb.item(i)]", "table, [limb.item(0)]"
    ),
    # trees
    "split: a box without one of its sides": Mutation(
        "bvh/sah.py", "return x * y + y * z + z * x", "return x * y + y * z"
    ),
    "split: along the first axis": Mutation("bvh/sah.py", "boundary, axis, lower", "boundary, 0, lower"),
    "split: by the left side alone": Mutation(
        "bvh/sah.py", "bins.left_cost[b - 1] + count * half_area(box)", "bins.left_cost[b - 1]"
    ),
    "split: two items in one": Mutation(
        "bvh/sah.py", "order[j], order[middle] = order[middle], item", "order[middle] = item"
    ),
    "pairs: one that is queued alone is lost": Mutation(
        STREAM, "if state.pairs.queued[shape] > 0:", "if state.pairs.queued[shape] > 1:"
    ),
    "pairs: the last of a batch is lost": Mutation(
        "query/loops/leaf.py", "(1 << queue.queued[shape]) - 1", "(1 << (queue.queued[shape] - 1)) - 1"
    ),
    "refine: one that is queued alone is forgotten": Mutation(
        REFINE, "if queue.queued[slot] > 0:", "if queue.queued[slot] > 1:"
    ),
    "refine: all by the last face": Mutation(REFINE, "* FACES + face", "* FACES + FACES - 1"),
    "brute force: eight rays answered for sixteen": Mutation(
        "query/loops/brute_force.py", "closer(other_best, index, other_bounds)", "closer(other_best, index, bounds)"
    ),
    "brute force: one that is listed alone is lost": Mutation(
        "query/loops/brute_force.py", "if count > 0:", "if count > 1:"
    ),
    # many points together
    "points: the last of a batch is nowhere": Mutation(
        "bvh/points.py", "for k in range(eights, count):", "for k in range(eights, count - 1):"
    ),
    "points: what is beyond a step is lost": Mutation(
        "bvh/points.py", "queued[level + 1] = first, node_count", "queued[level + 1] = 0, node_count"
    ),
    "points: one that is queued alone is lost": Mutation(
        "query/loops/points.py", "if queue.queued[shape] > 0:", "if queue.queued[shape] > 1:"
    ),
    "points: the last of a batch is lost": Mutation(
        "query/loops/points.py", "(1 << queue.queued[shape]) - 1", "(1 << (queue.queued[shape] - 1)) - 1"
    ),
    "points: any limb is the lowest": Mutation("query/loops/points.py", "min(columns.limb[i], limb[k])", "limb[k]"),
    "points: always sure": Mutation("query/loops/points.py", "valid & ~(inside | outside)", "0 & ~(inside | outside)"),
    # validation
    "received: ends of any kind": Mutation(INPUTS, "origins_valid and valid and", "origins_valid and"),
    "received: no direction at all": Mutation(INPUTS, "not any_short_row(rays.second, begin, end)", "True"),
    "received: the row of a number is not its own": Mutation("validate.py", "// (bad.size // len(bad))", "// 1"),
    "received: the last numbers unseen": Mutation(
        "query/loops/inputs.py", "last_outside | (not abs(y) <= LARGEST_NUMBER)", "last_outside"
    ),
}
"""What all shapes share: what is wrong with it."""

LONG_NUMBERS_MISS = Mutation(LINE, "    if radicand < 0:\n", "    if radicand < 0 or radicand > 1 << 200:\n")
END_EXCLUDED = Mutation(ORDER, "near.time.compare(limit) > 0", "near.time.compare(limit) >= 0")
LAW_BREAKERS = {
    f"test_{law}": mutation
    for law, mutation in {
        "reversal_turns_the_chords_round": END_EXCLUDED,
        "a_power_of_two_leaves_everything_but_lengths": LONG_NUMBERS_MISS,
        "moving_by_whole_steps_changes_no_verdict": Mutation(FRAME, "oy - py", "oy + py"),
        "turning_by_right_angles_and_mirroring_changes_no_verdict": Mutation(FRAME, "(sx - ox,", "(sx + ox,"),
        "turning_the_limb_round_swaps_its_caps": Mutation(
            LINE, "(top - height, rate), high)", "(top - height, rate), low)"
        ),
        "a_grown_limb_is_hit_by_all_that_hit_it": LONG_NUMBERS_MISS,
        "the_policies_are_views_of_the_chords": Mutation(
            ORDER, "chord.exit_face != Face.INSIDE", "chord.exit_face == Face.INSIDE"
        ),
        "every_point_question_gets_one_answer": Mutation(
            "exact/solid.py", "Side.SURFACE if depth == 0", "Side.OUTSIDE if depth == 0"
        ),
        "a_ray_is_a_segment_without_end": END_EXCLUDED,
        "cutting_a_segment_in_two_loses_nothing": END_EXCLUDED,
        "a_world_of_one_limb_is_the_limb": Mutation(
            "kernels/axis.py", "(x + reach[0], y + reach[1]", "(x, y + reach[1]"
        ),
        "a_cylinder_is_a_taper_of_equal_radii": Mutation(REVOLUTION, "change, scale=frame.top", "change, scale=1"),
        "a_tube_is_a_cylinder_to_all_that_miss_its_bore": LONG_NUMBERS_MISS,
        "a_tube_is_part_of_its_cylinder_and_fills_it_with_its_bore": LONG_NUMBERS_MISS,
        "a_capsule_holds_its_cylinder_and_its_balls": BROKEN[S.CAPSULE, "second ball at p1"],
        "what_is_carved_out_of_a_cylinder_is_hit_by_less": BROKEN[S.ELLIPSOID, "hyperboloid"],
        "a_sphere_is_a_capsule_without_length": Mutation(
            "shapes.py", "else Sphere(n.p1, n.radius)", "else Sphere(n.p1, 2 * n.radius)"
        ),
        "a_sphere_is_an_ellipsoid_as_long_as_wide": BROKEN[S.ELLIPSOID, "half the room"],
        "a_box_holds_the_sphere_in_it_and_lies_in_the_one_about_it": Mutation(
            K_BOX, "rate_x, half[0]", "rate_x, 0.5 * half[0]"
        ),
        "equal_limbs_of_different_shapes_go_to_the_lowest_index": END_EXCLUDED,
    }.items()
}
"""Law of `query.test_shape_properties` to what breaks it."""
