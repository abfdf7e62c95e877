"""What is broken of chords and of the loop that judges shots by them: rows of `mutations.SHARED`."""

from support.mutation import Mutation

JUDGE = "query/loops/judge.py"

JUDGED: dict[str, Mutation] = {
    "chord ends: the numbers of undecided rays depend on all limbs": Mutation(
        "query/exact_fallback.py", "_put_rows(chords, hit[~undecided], take_chords(fast, ~undecided))", "pass"
    ),
    "chord ends: the second chord of a tube is its first": Mutation(
        "query/exact_fallback.py", "((first, False), (second, True))", "((first, False), (second, False))"
    ),
    "chord ends: out by the face of the entry": Mutation(
        "query/ray_chords.py", "chords.exit_face, exact", "chords.entry_face, exact"
    ),
    "judge: the least important limb": Mutation(
        JUDGE, "policy.rank[one] < policy.rank[other]", "policy.rank[one] > policy.rank[other]"
    ),
    "judge: the last of equal chords": Mutation(
        JUDGE, "thickness(flight, i, j) > thickness", "thickness(flight, i, j) >= thickness"
    ),
    "judge: nobody's limbs are one character": Mutation(
        JUDGE, "one == other and (one != NO_CHARACTER or flight.limb[j] == flight.limb[k])", "one == other"
    ),
    "judge: what counts does not end the shot": Mutation(JUDGE, "energy if j < counted else 0.0", "energy"),
    "judge: energy that ends at a surface goes on": Mutation(
        JUDGE, "PASSED_THROUGH if cost < left", "PASSED_THROUGH if cost <= left"
    ),
    "judge: overlaps are paid for twice": Mutation(
        JUDGE, "(until - impacts.union_exit[before]) * flight.length[i]", "thickness(flight, i, j)"
    ),
    "judge: a touch is an overlap": Mutation(
        JUDGE, "flight.fraction[j] < impacts.union_exit[before]", "flight.fraction[j] <= impacts.union_exit[before]"
    ),
    "judge: the group that is entered last": Mutation(
        JUDGE, "ruling, path = impacts.union_first[before]", "ruling, path = j"
    ),
    "judge: only neighbours overlap": Mutation(JUDGE, "range(j - 1, first - 1, -1)", "range(j - 1, j - 2, -1)"),
}
