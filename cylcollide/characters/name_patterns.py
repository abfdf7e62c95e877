"""Selection by patterns of names."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from cylcollide.validate import shown


def matched(patterns: str | Sequence[str], names: Sequence[tuple[str, ...]], argument: str, of: str) -> list[bool]:
    """Whether each item, given by its names, matches any of the patterns (`fnmatch`, case-sensitive).

    ValueError if the patterns are no strings, or one of them matches nothing.
    """
    several = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(several, Sequence) or not all(isinstance(pattern, str) for pattern in several):
        raise ValueError(f"{argument}: expected a pattern of names or a list of these, got {shown(patterns)}")
    found = [False] * len(names)
    for pattern in several:
        rows = [row for row, own in enumerate(names) if any(fnmatchcase(name, pattern) for name in own)]
        if not rows:
            known = ", ".join(dict.fromkeys(name for own in names for name in own if name))[:400] or "none"
            raise ValueError(f"{argument}: expected patterns of {of} ({known}), got {pattern!r}, which matches none")
        for row in rows:
            found[row] = True
    return found
