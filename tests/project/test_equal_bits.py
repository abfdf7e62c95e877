"""Answers keep their bits from version to version: digests of mixed questions, as the first version answered them.

After a change that is meant to change bits, write the digests anew: `python tests/project/test_equal_bits.py`.
"""

import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from support.check_cylinders import IS_COMPILED
from support.mixed_questions import digests

STORED = HERE / "equal_bits.json"
SHARES = {"some": 0.04, "all": 1.0}
"""Of a hundred thousand questions."""


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of rays take minutes in plain Python")
@pytest.mark.parametrize("amount", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_answers_keep_their_bits(amount: str):
    stored, found = json.loads(STORED.read_text())[amount], digests(SHARES[amount])
    assert len(found) > 100
    assert [name for name in stored.keys() | found.keys() if stored.get(name) != found.get(name)] == []


if __name__ == "__main__":
    STORED.write_text(json.dumps({amount: digests(share) for amount, share in SHARES.items()}, indent=1) + "\n")
