"""Finds the known name for a misspelt one.

Owns the rule for similar names. Pure. Must not know the named objects.
"""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_LIKELIEST: Final = 3
"""Number of most similar names whose edit distance to a key is computed."""
_A_THIRD: Final = 3
_BEGINNING: Final = 3
"""Smallest number of characters of a key that may abbreviate a name."""


def nearest_name(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most similar to a key, if at most a third of its characters differ:
    by `likeness` alone, `grader` would match `headers`.
    """
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - rapidfuzz loads only where it is used

    for name in get_close_matches(key, known, n=_LIKELIEST, cutoff=likeness):
        if OSA.distance(key, name) <= max(len(key), len(name)) // _A_THIRD:
            return name
    return None


def name_like(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most similar to a key, or that begins with the key."""
    begun = (name for name in known if len(key) >= _BEGINNING and name.startswith(key))
    return nearest_name(key, known, likeness) or next(begun, None)


def has_words(name: str, key: str) -> bool:
    """Returns whether each word of a key begins a word of a name, like `max_steps` and
    `max_episode_steps`.
    """
    words, of_name = key.split("_"), name.split("_")
    begin = all(any(each.startswith(word) for each in of_name) for word in words)
    return len(key) >= _BEGINNING and begin
