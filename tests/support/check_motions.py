"""Compare contacts with moving limbs, number by number, with the oracle's; a failure prints the motion."""

from fractions import Fraction

from support.oracle import moving as oracle
from support.oracle.sturm import Curve, Cut, sign, whole

from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact
from cylcollide.exact.moving import Motion, contact_face, contact_intervals


def equals(number: Algebraic, cut: Cut) -> bool:
    """Return whether a number of the library equals the oracle's: both are the same root of a common factor."""
    low, high = number.bounds
    if low == high:
        return cut.low < low <= cut.high and sign(cut.curve.coefficients, low) == 0
    curve = Curve(whole([Fraction(c) for c in number.polynomial]))
    return curve.count(low, high) == 1 and curve.has_root_of(cut.curve, max(low, cut.low), min(high, cut.high))


def check_motion(motion: Motion) -> tuple[tuple[Contact, ...], list[oracle.Run]]:
    """Assert that the contacts of a motion equal the oracle's, with faces and rounded times; return both."""
    found, want = contact_intervals(motion), oracle.runs(motion)
    assert len(found) == len(want), motion
    alpha = motion.interval.alpha0, motion.interval.alpha1
    for contact, run in zip(found, want, strict=True):
        assert equals(contact.entry, run.entry), motion
        assert equals(contact.exit, run.exit), motion
        assert (contact.entry_open, contact.exit_open) == (run.entry_open, run.exit_open), motion
        assert contact_face(motion, contact) == run.face, motion
        for number, cut in ((contact.entry, run.entry), (contact.exit, run.exit)):
            assert number.rounded() == cut.rounded(Fraction(0), Fraction(1)), motion
            assert number.rounded(*alpha) == cut.rounded(*alpha), motion
    return found, want
