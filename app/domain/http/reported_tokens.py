"""Token counts that an engine or a judge reports with a reply. Pure."""

from typing import Any, Final

MOST_TOKENS: Final = 10**9
"""Largest count of one reply; no context comes near it."""


def reported_tokens(usage: Any, name: str) -> int:
    """Returns a count of the `usage` of a reply; 0 for one that is missing or cannot be true, so
    that no server makes the sums of others meaningless.
    """
    value = usage.get(name) if isinstance(usage, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= MOST_TOKENS else 0
