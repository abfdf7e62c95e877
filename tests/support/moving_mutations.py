"""Rows for `project.test_mutations` about roots, times of contact, and limbs that move."""

from support.moving_kernel_mutations import MOVING_KERNELS, MOVING_KERNELS_SEEN_BY
from support.mutation import Mutation

POLYNOMIALS, ALGEBRAIC, CONTACTS, MOVING = (
    f"exact/{name}.py" for name in ("polynomials", "algebraic", "contacts", "moving")
)

FLIGHTS, EXITS = (f"query/loops/{name}.py" for name in ("moving", "moving_exit"))

MOVED_SEEN_BY: dict[str, list[str]] = {
    "flights": [
        "tests/history/test_moving_far.py",
        "tests/history/test_moving_moments.py",
        "tests/history/test_moving_pairs.py",
        "tests/history/test_moving_exits.py",
    ],
    **MOVING_KERNELS_SEEN_BY,
    "roots": ["tests/exact/test_algebraic.py"],
    "contacts": ["tests/exact/test_contacts.py", "tests/exact/test_moving.py", "tests/oracle/test_moving_oracle.py"],
}

MOVED: dict[str, Mutation] = {
    **MOVING_KERNELS,
    "flights: an open stretch is believed": Mutation(FLIGHTS, " | (stretches.is_open[j] & (nearest >= 0))", ""),
    "flights: misses of an open stretch are left out": Mutation(FLIGHTS, " and not stretches.is_open[j]:", ":"),
    "flights: the ball that is entered first": Mutation(
        FLIGHTS, "candidates.earliest[pair] <= best.upper and ", "False and "
    ),
    "flights: any limb goes on": Mutation(EXITS, "places.row[other] == row:", "places.row[other] >= 0:"),
    "flights: hidden limbs go on": Mutation(EXITS, "return other if is_hit and not", "return other if not"),
    "flights: a contact ends with its stretch": Mutation(
        EXITS, "if not stays or j + 1 == stretches.offsets[i + 1]:", "if True:"
    ),
    "roots: variations are repetitions": Mutation(POLYNOMIALS, "now == -last", "now == last"),
    "roots: right half turned round": Mutation(POLYNOMIALS, "    right.reverse()\n", ""),
    "roots: no root in the middle": Mutation(POLYNOMIALS, "if right[0] == 0:", "if right == []:"),
    "roots: no root at the upper end": Mutation(POLYNOMIALS, "if whole[-1] == 0:", "if whole == []:"),
    "roots: quotients turned round": Mutation(POLYNOMIALS, "tuple(reversed(found))", "tuple(found)"),
    "roots: the prime may take the degree": Mutation(POLYNOMIALS, "if a[-1] == 0:", "if not a:"),
    "roots: binomials forgotten": Mutation(POLYNOMIALS, "comb(j, i) * (common", "(common"),
    "roots: beyond is before": Mutation(ALGEBRAIC, "return 1 if beyond ==", "return -1 if beyond =="),
    "roots: common roots are equal": Mutation(ALGEBRAIC, "return below != above", "return True"),
    "roots: an end is left out": Mutation(ALGEBRAIC, "root.compare(first) >= 0", "root.compare(first) > 0"),
    "roots: a sign where both vanish": Mutation(
        ALGEBRAIC, "                return 0\n        while True:", "                return 1\n        while True:"
    ),
    "roots: rounded down": Mutation(ALGEBRAIC, "below if order < 0 else above", "below"),
    "roots: ties up": Mutation(ALGEBRAIC, "float(middle) if order == 0 else ", ""),
    "roots: falling maps round as rising ones": Mutation(ALGEBRAIC, "order = sign(slope.numerator) * ", "order = "),
    "contacts: an open point joins": Mutation(
        CONTACTS, "gap == 0 and not (contact.entry_open and found[-1].exit_open)", "gap == 0"
    ),
    "contacts: points in common are missed": Mutation(
        CONTACTS, "(order == 0 and not (later", "(order == 1 and not (later"
    ),
    "contacts: an open end is a point": Mutation(CONTACTS, " and not (later.entry_open or earlier.exit_open)", ""),
    "contacts: a moment left out is not open": Mutation(CONTACTS, "exit=point, exit_open=True", "exit=point"),
    "contacts: the highest row": Mutation(CONTACTS, "or row - first[0]) < 0", "or first[0] - row) < 0"),
    "contacts: open entries are not later": Mutation(
        CONTACTS,
        "self.entry.compare(other.entry) or self.entry_open - other.entry_open",
        "self.entry.compare(other.entry)",
    ),
    "contacts: touches are missed": Mutation(CONTACTS, "*[Contact(root, root) for root in roots]", ""),
    "contacts: taper turned round": Mutation(MOVING, "m.radius2 - m.radius)", "m.radius - m.radius2)"),
    "contacts: thin ellipsoids": Mutation(MOVING, "4 * m.radius**2", "2 * m.radius**2"),
    "contacts: both balls at p1": Mutation(MOVING, "_ball(from_p2, m.radius)", "_ball(m.yy, m.radius)"),
    "contacts: bores of the outer radius": Mutation(MOVING, "_wall(m, m.radius2)", "_wall(m, m.radius)"),
    "contacts: an axis never vanishes": Mutation(MOVING, "if moment is None else", "if True else"),
    "contacts: limbs without axis": Mutation(
        MOVING, "if part.needs_axis and not aa:", "if part.needs_axis and aa == 1:"
    ),
    "contacts: every stretch is closed": Mutation(MOVING, "found if stretch.is_closed else", "found if True else"),
    "contacts: a flight ends in its tick": Mutation(MOVING, "leaves > 1 or not step", "leaves >= 1 or not step"),
    "contacts: a tick has its end": Mutation(MOVING, "or (leaves == 0 and step)", ""),
    "contacts: surfaces are inside": Mutation(MOVING, "any(max(part) < 0", "any(max(part) <= 0"),
    "contacts: a start on the surface has a face": Mutation(
        MOVING, "contact.entry_open or s == 0 or", "contact.entry_open or"
    ),
    "contacts: a ball has caps": Mutation(MOVING, "and s.sign_of(m.aa) > 0", ""),
    "contacts: rims are walls": Mutation(MOVING, "if signs[0][1] >= 0:", "if signs[0][1] > 0:"),
    "contacts: bores are sides": Mutation(MOVING, "return Face.BORE if", "return Face.SIDE if"),
    "contacts: alpha stands still": Mutation(
        MOVING,
        "p, p_rate = _affine(p1, p1_next, unit, alpha0, alpha1)",
        "p, p_rate = _affine(p1, p1_next, unit, alpha0, 0)",
    ),
    "contacts: radii in another scale": Mutation(MOVING, "unit * scaled[18]", "scaled[18]"),
}
