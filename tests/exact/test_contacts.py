"""Unions of intervals with open and closed ends, and the first of several contacts."""

from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cylcollide.exact.algebraic import Algebraic, real_roots
from cylcollide.exact.contacts import Contact, common, first_contact, united, without

pytestmark = pytest.mark.plain_python

HALF = Fraction(1, 2)
SEVENTHS = st.integers(0, 6)
INTERVALS = st.lists(st.tuples(SEVENTHS, SEVENTHS, st.booleans(), st.booleans()), max_size=4)
MOMENTS = [Fraction(k, 14) for k in range(-1, 14)]


def intervals(rows: list[tuple[int, int, bool, bool]]) -> list[Contact]:
    """Return intervals between multiples of 1/7; those of length 0 are closed."""
    ends = [(min(a, b), max(a, b), left and a != b, right and a != b) for a, b, left, right in rows]
    return [Contact(*[Algebraic.rational(Fraction(x, 7)) for x in (a, b)], left, right) for a, b, left, right in ends]


def members(contacts: list[Contact]) -> set[Fraction]:
    """Return those of `MOMENTS` that are in one of the intervals."""
    return {
        s
        for s in MOMENTS
        for c in contacts
        if c.entry <= s <= c.exit and not (c.entry_open and c.entry == s) and not (c.exit_open and c.exit == s)
    }


@given(INTERVALS, INTERVALS, SEVENTHS)
def test_set_operations(one, two, seventh):
    a, b, moment = intervals(one), intervals(two), Fraction(seventh, 7)
    union = united([*a, *b])
    assert members(union) == members(a) | members(b)
    shared = common(united(a), united(b))
    assert members(shared) == members(a) & members(b)
    assert all(c.entry < c.exit or not (c.entry_open or c.exit_open) for c in shared)
    assert members(without(union, moment)) == members(union) - {moment}
    for before, after in pairwise(union):
        assert before.exit < after.entry or (before.exit == after.entry and before.exit_open and after.entry_open)


@pytest.mark.coverage
def test_the_first_contact_has_the_earliest_entry_and_the_lowest_row():
    root, same = real_roots((-1, 0, 2), Fraction(0), Fraction(1)), real_roots((1, -2, -2, 4), HALF, Fraction(1))
    late, half = Algebraic.rational(Fraction(3, 4)), Algebraic.rational(HALF)
    rows = [
        (4, Contact(late, late)),
        (3, Contact(root[0], late)),
        (2, Contact(same[-1], late)),  # the same number, of another polynomial
        (1, Contact(root[0], late, entry_open=True)),  # begins after it
        (0, Contact(late, late)),
    ]
    for order in permutations(rows):
        assert first_contact(order) == rows[2]
    assert first_contact([*rows, (9, Contact(half, half))]) == (9, Contact(half, half))
    assert first_contact([]) is None
