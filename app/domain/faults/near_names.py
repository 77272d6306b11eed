"""Finds the known name that a misspelt one was meant for.

Owns the rule by which two names are near. Pure. Must not know what is named.
"""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_LIKELIEST: Final = 3
"""Names whose distance to a key is counted."""
_A_THIRD: Final = 3
_BEGINNING: Final = 3
"""Characters of a key that may stand for a name that begins with it."""


def nearest_name(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most like a key, if at most a third of its characters differ: by
    `likeness` alone `headers` would be meant by `grader`.
    """
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - rapidfuzz loads only where it is used

    for name in get_close_matches(key, known, n=_LIKELIEST, cutoff=likeness):
        if OSA.distance(key, name) <= max(len(key), len(name)) // _A_THIRD:
            return name
    return None


def name_like(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most like a key, or that the key is the beginning of."""
    begun = (name for name in known if len(key) >= _BEGINNING and name.startswith(key))
    return nearest_name(key, known, likeness) or next(begun, None)


def has_words(name: str, key: str) -> bool:
    """Says if each word of a key begins one of a name, as `max_steps` in `max_episode_steps`."""
    words, of_name = key.split("_"), name.split("_")
    begin = all(any(each.startswith(word) for each in of_name) for word in words)
    return len(key) >= _BEGINNING and begin
