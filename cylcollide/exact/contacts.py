"""Times of contact: where polynomials of the flight's parameter s are at most zero, and which limb is touched first."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import NamedTuple

from cylcollide.exact.algebraic import Algebraic, real_roots
from cylcollide.exact.polynomials import Polynomial, sign_at


class Contact(NamedTuple):
    """An interval of s; an open end is not part of it. Both ends of a touch are equal."""

    entry: Algebraic
    exit: Algebraic
    entry_open: bool = False
    exit_open: bool = False

    def compare_entry(self, other: "Contact") -> int:
        """Sign of the difference in entry; at the same s, an open one is later."""
        return self.entry.compare(other.entry) or self.entry_open - other.entry_open

    def compare_exit(self, other: "Contact") -> int:
        """Sign of the difference in exit; at the same s, an open one is earlier."""
        return self.exit.compare(other.exit) or other.exit_open - self.exit_open


by_entry, by_exit = cmp_to_key(Contact.compare_entry), cmp_to_key(Contact.compare_exit)


def contacts_where(p: Polynomial, begin: Fraction, end: Fraction) -> list[Contact]:
    """Where p(s) <= 0 in begin <= s <= end: closed intervals, in order."""
    first, last = Algebraic.rational(begin), Algebraic.rational(end)
    if begin == end:
        return [Contact(first, last)] if first.sign_of(p) <= 0 else []
    roots = real_roots(p, begin, end) if p else []
    between = [(a, b) for a, b in pairwise((first, *roots, last)) if a != b]
    found = [Contact(a, b) for a, b in between if sign_at(p, *rational_between(a, b).as_integer_ratio()) <= 0]
    return united([*found, *[Contact(root, root) for root in roots]])


def rational_between(a: Algebraic, b: Algebraic) -> Fraction:
    """A rational number that is greater than a and less than b, a < b."""
    while (low := a.bounds[1]) >= (high := b.bounds[0]):
        a.refine()
        b.refine()
    return (low + high) / 2


def united(contacts: Iterable[Contact]) -> list[Contact]:
    """The union, in order. Intervals that share only an end that is open in both stay separate."""
    found: list[Contact] = []
    for contact in sorted(contacts, key=by_entry):
        gap = contact.entry.compare(found[-1].exit) if found else 1
        if gap < 0 or (gap == 0 and not (contact.entry_open and found[-1].exit_open)):
            longer = max(found[-1], contact, key=by_exit)
            found[-1] = found[-1]._replace(exit=longer.exit, exit_open=longer.exit_open)
        else:
            found.append(contact)
    return found


def common(first: list[Contact], second: list[Contact]) -> list[Contact]:
    """The intersection of two ordered lists of intervals, in order."""
    found = []
    for a in first:
        for b in second:
            later, earlier = max(a, b, key=by_entry), min(a, b, key=by_exit)
            order = later.entry.compare(earlier.exit)
            if order < 0 or (order == 0 and not (later.entry_open or earlier.exit_open)):
                found.append(Contact(later.entry, earlier.exit, later.entry_open, earlier.exit_open))
    return found


def without(contacts: list[Contact], moment: Fraction) -> list[Contact]:
    """The intervals less one point."""
    point = Algebraic.rational(moment)
    found = []
    for contact in contacts:
        if contact.entry < point:
            ends_before = contact.exit < point
            found.append(contact if ends_before else contact._replace(exit=point, exit_open=True))
        if contact.exit > point:
            begins_after = contact.entry > point
            found.append(contact if begins_after else contact._replace(entry=point, entry_open=True))
    return found


def first_contact(contacts: Iterable[tuple[int, Contact]]) -> tuple[int, Contact] | None:
    """The pair of row and contact that begins first, ties by the lowest row; None without pairs."""
    first: tuple[int, Contact] | None = None
    for row, contact in contacts:
        if first is None or (contact.compare_entry(first[1]) or row - first[0]) < 0:
            first = row, contact
    return first
