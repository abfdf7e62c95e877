"""Results keep their bits from version to version: one digest for each kind of mixed query.

After a change that is meant to change bits, write the digests anew: `python tests/project/test_equal_bits.py`.
"""

import json
import sys
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from support.check_cylinders import IS_COMPILED
from support.mixed_queries import digests

STORED = HERE / "equal_bits.json"
SHARES = {"some": 0.04, "all": 1.0}
"""Of 290,000 queries."""
KINDS = (
    *("cast", "few", "rays", "chords", "occluded", "points", "nearest", "overlap", "thick", "classify", "moved"),
    *("clearance", "doubts", "capsules", "boxes", "swept"),
)


def digest_of_each_kind(share: float) -> dict[str, str]:
    """Return one digest of all columns of all worlds for each kind of query."""
    groups = defaultdict(list)
    for name, digest in sorted(digests(share).items()):
        (kind,) = set(name.split(" ")) & set(KINDS)
        groups[kind].append(f"{name} {digest}")
    return {kind: blake2b("\n".join(lines).encode(), digest_size=8).hexdigest() for kind, lines in groups.items()}


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of rays take minutes in plain Python")
@pytest.mark.parametrize("amount", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_answers_keep_their_bits(amount: str):
    stored, found = json.loads(STORED.read_text())[amount], digest_of_each_kind(SHARES[amount])
    assert set(found) == set(KINDS)
    assert [kind for kind in KINDS if stored[kind] != found[kind]] == []


if __name__ == "__main__":
    STORED.write_text(json.dumps({amount: digest_of_each_kind(x) for amount, x in SHARES.items()}, indent=1) + "\n")
