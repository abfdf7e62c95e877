"""Rows for `project.test_mutations` about kernels of limbs that move."""

from support.mutation import Mutation

BERNSTEIN, SOLIDS, MOVING, CONTACT = (
    f"kernels/{name}.py" for name in ("bernstein", "moving_solids", "moving", "moving_contact")
)

MOVING_KERNELS_SEEN_BY: dict[str, list[str]] = {
    "moving": ["tests/kernels/test_moving.py", "tests/kernels/test_moving_bound.py"],
}

MOVING_KERNELS: dict[str, Mutation] = {
    "moving: products off": Mutation(BERNSTEIN, "b[1])) * (1.0 / 6.0)", "b[1])) * (1.0 / 5.0)"),
    "moving: squares off": Mutation(BERNSTEIN, "a[1])) * (1.0 / 3.0)", "a[1])) * (1.0 / 2.0)"),
    "moving: sextics off": Mutation(BERNSTEIN, "a[1] * b[2]) * 0.2", "a[1] * b[2]) * 0.25"),
    "moving: a quadratic raised wrongly": Mutation(BERNSTEIN, "(x + 4.0 * y + z)", "(x + 3.0 * y + 2.0 * z)"),
    "moving: a quartic raised wrongly": Mutation(BERNSTEIN, "a[3] + 3.0 * a[2] + a[1]", "a[3] + 2.0 * a[2] + a[1]"),
    "moving: a line above the quadratic": Mutation(BERNSTEIN, "smaller(2.0 * a, ends)", "larger(2.0 * a, ends)"),
    "moving: a line above the quartic": Mutation(
        BERNSTEIN, "smaller(4.0 * a, 2.0 * (c[2] - c[0]))", "larger(4.0 * a, 2.0 * (c[2] - c[0]))"
    ),
    "moving: a line above the sextic": Mutation(BERNSTEIN, "smaller(6.0 * a, early)", "larger(6.0 * a, early)"),
    "moving: positive too far": Mutation(
        BERNSTEIN, "larger(from_first, from_last)", "1.01 * larger(from_first, from_last)"
    ),
    "moving: positive behind too early": Mutation(BERNSTEIN, "smaller(to_last, to_first)", "0.5 * to_last"),
    "moving: a start outside is inside": Mutation(BERNSTEIN, "first < -error,", "first < error + 1e-9,"),
    "moving: an end outside is inside": Mutation(BERNSTEIN, "last < -error,", "last < error,"),
    "moving: a union is free where one part is": Mutation(
        BERNSTEIN, "smaller(a.free, b.free)", "larger(a.free, b.free)"
    ),
    "moving: a union ends inside of all": Mutation(BERNSTEIN, "a.ends | b.ends", "a.ends & b.ends"),
    "moving: an intersection ends inside of one": Mutation(BERNSTEIN, "a.ends & b.ends", "a.ends | b.ends"),
    "moving: no bore": Mutation(SOLIDS, "return Crossing(both(whole, bore),", "return Crossing(whole,"),
    "moving: taper turned round": Mutation(SOLIDS, "0.5 * (radius2 - radius)", "0.5 * (radius - radius2)"),
    "moving: hyperboloid": Mutation(SOLIDS, "s = radius * radius\n    room", "s = -radius * radius\n    room"),
    "moving: an axis never vanishes": Mutation(SOLIDS, "select(has_axis, SIDE", "select(True, SIDE"),
    "moving: balls swapped": Mutation(
        SOLIDS, "select(before, CAP1, select(behind, CAP2", "select(before, CAP2, select(behind, CAP1"
    ),
    "moving: caps swapped": Mutation(SOLIDS, "second.within, CAP1,", "first.within, CAP1,"),
    "moving: a bore is a side": Mutation(SOLIDS, "select(whole.within, BORE,", "select(whole.within, SIDE,"),
    "moving: roundings forgotten": Mutation(
        "constants.py", "MOVING_ROUNDING_BOUND = 96.0", "MOVING_ROUNDING_BOUND = 2.0"
    ),
    "moving: a bound that is not understood": Mutation(
        "constants.py", "MOVING_ROUNDING_BOUND = 96.0", "MOVING_ROUNDING_BOUND = 1e7"
    ),
    "moving: a capsule without balls": Mutation(MOVING, "reach = square_root(half_squared) + width", "reach = width"),
    "moving: short at u = 1": Mutation(MOVING, "along(motion.h, motion.dh, 1.0)", "along(motion.h, motion.dh, 0.0)"),
    "moving: still bullets have gone": Mutation(MOVING, "select(square < least, 0.0,", "select(square < least, 1.0,"),
    "moving: large numbers are trusted": Mutation(MOVING, "(extent <= LARGEST_SAFE)", "(extent < inf)"),
    "moving: small numbers are trusted": Mutation(MOVING, "(extent >= SMALLEST_SAFE)", "(extent > 0.0)"),
    "moving: a surface at the start is entered": Mutation(MOVING, "certain and begin > 0.0", "certain"),
    "moving: missed by half": Mutation(
        MOVING, " & is_outside(late, kind, radius, radius2, errors)\n    trusted", "\n    trusted"
    ),
    "moving: missed by one ball": Mutation(
        SOLIDS, "return outside & (least_of_three(ball1)", "return outside | (least_of_three(ball1)"
    ),
    "moving: the ball is entered later": Mutation(
        MOVING, "select(trusted, first, 0.0)", "select(trusted, middle, 0.0)"
    ),
    "moving: nothing behind the first window": Mutation(MOVING, "if window.ends:", "if window.ends or free:"),
    "moving: caps turned round": Mutation(CONTACT, "along_axis if face == CAP2", "along_axis if face == CAP1"),
    "moving: half a ball": Mutation(CONTACT, "scaled(height, 2.0)", "scaled(height, 1.0)"),
    "moving: low words forgotten": Mutation(
        CONTACT, "return dd_subtract(distance, dd_multiply(allowed, a))", "return distance[0] - allowed[0] * a[0], 0.0"
    ),
    "moving: a mean slope is every slope": Mutation(
        CONTACT, "doubt = width * bend + 2.0 * error / width", "doubt = 0.0"
    ),
    "moving: a step forgotten": Mutation(
        CONTACT, "Contact(two_sum(time, step), accurate)", "Contact((time, 0.0), accurate)"
    ),
}
