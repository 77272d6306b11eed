"""Divides prompts into training and held-out ones; near-duplicates stay on one side. Pure.

Two prompts are near-duplicates when their sets of three-word pieces are alike, apart from pieces of
a form that many prompts share, such as a system message. MinHash with banding finds candidates, so
that no prompt is compared with all others. Source: Broder 1997, "On the resemblance and containment
of documents". The hashes read at most a sample of the pieces of a long text, the same pieces in
every text that has them, so that the time depends on the number of texts and not on their length.
"""

import heapq
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from app.domain.feedback.judgements import digest

_WORDS: Final = 3
_BANDS: Final = 16
_ROWS: Final = 2
"""Hashes of a band: pairs that share 0.7 of their pieces meet in one of the bands almost surely."""
_ALIKE: Final = 0.6
"""Share of common pieces from which two prompts are near-duplicates."""
_COMMON: Final = 0.25
"""Share of the prompts from which a piece in them is part of their form."""
_FEW: Final = 8
"""Number of prompts below which no piece is part of a form."""
_PRIME: Final = (1 << 61) - 1
_HASHED: Final = 200_000
"""Pieces of all texts together that are hashed."""
_FEWEST_HASHED: Final = 16
"""Pieces of one text that are hashed at least, if it has as many."""


def clusters(texts: Mapping[str, str]) -> list[list[str]]:
    """Returns the keys of the texts, near-duplicates together, in an order that depends on the
    texts alone.
    """
    return clusters_of_pieces({key: pieces_of(text) for key, text in texts.items()})


def clusters_of_pieces(all_pieces: Mapping[str, frozenset[int]]) -> list[list[str]]:
    """Returns the same as `clusters`, from the pieces of each text."""
    pieces = _without_form(all_pieces)
    parents = {key: key for key in pieces}

    def root(key: str) -> str:
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for band in _bands(pieces).values():
        for one, other in pairwise(band):
            for earlier in (band[0], one):
                if _likeness(pieces[earlier], pieces[other]) >= _ALIKE:
                    parents[root(other)] = root(earlier)
    groups = defaultdict[str, list[str]](list)
    for key in pieces:
        groups[root(key)].append(key)
    return sorted(groups.values(), key=lambda group: min(map(digest, group)))


def held_out(groups: list[list[str]], rows: Mapping[str, int], *, wanted: int) -> set[str]:
    """Returns the keys of whole groups with about `wanted` rows together, never all groups. `rows`
    are the rows of each key.
    """
    chosen, count = set[str](), 0
    for group in groups[:-1]:
        size = sum(rows[key] for key in group)
        if count + size <= wanted:
            chosen.update(group)
            count += size
    return chosen


def pieces_of(text: str, *, most: int | None = None) -> frozenset[int]:
    """Returns the pieces of a text, or the `most` lowest ones: texts that share pieces share those
    of them that are low in both.
    """
    letters = (letter if letter.isalnum() else " " for letter in text.casefold())
    words = "".join(letters).split()
    last = max(1, len(words) - _WORDS + 1)
    pieces = {zlib.crc32(" ".join(words[at : at + _WORDS]).encode()) for at in range(last)}
    return frozenset(pieces if most is None else heapq.nsmallest(most, pieces))


def _without_form(pieces: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Returns the pieces of each text that are its own; all of a text that has none."""
    counts = Counter(piece for own in pieces.values() for piece in own)
    most = _COMMON * len(pieces) if len(pieces) >= _FEW else len(pieces)
    return {
        key: frozenset(piece for piece in own if counts[piece] <= most) or own
        for key, own in pieces.items()
    }


def _bands(pieces: Mapping[str, frozenset[int]]) -> dict[tuple[int, ...], list[str]]:
    """Returns the keys whose texts share a band."""
    found = defaultdict[tuple[int, ...], list[str]](list)
    most = max(_FEWEST_HASHED, _HASHED // max(1, len(pieces)))
    for key, own in pieces.items():
        signature = list(_signature(heapq.nsmallest(most, own)))
        for band in range(_BANDS):
            start = band * _ROWS
            found[band, *signature[start : start + _ROWS]].append(key)
    return found


def _signature(pieces: Sequence[int]) -> Iterator[int]:
    for number in range(1, _BANDS * _ROWS + 1):
        factor, shift = 2654435761 * number + 1, 40503 * number * number
        yield min((factor * piece + shift) % _PRIME for piece in pieces)


def _likeness(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)
