"""Finds the clusters of prompts that are nearly the same. Pure.

Two prompts are near-duplicates when the sets of their pieces are alike. A piece is two words that
follow each other, with 0 for each number; where a script writes no spaces, it is two Chinese
characters or three letters. MinHash with banding finds candidates, so that no prompt is compared
with all others. Source: Broder 1997, "On the resemblance and containment of documents". Only
the lowest pieces of a long text are kept: texts that share pieces share those of them that are low
in both, so the time depends on the number of texts and not on their length.
"""

import hashlib
import heapq
import re
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final, Literal

_BANDS: Final = 16
_ROWS: Final = 2
"""Hashes of a band: pairs that share 0.55 of their pieces nearly always meet in a band."""
_ALIKE: Final = 0.55
"""Share of common pieces from which two prompts are near-duplicates."""
_COMPARED: Final = 8
"""Clusters that one prompt is compared with at most in one band."""
_PRIME: Final = (1 << 61) - 1
MOST_PIECES: Final = 4_096
"""Pieces of a prompt by which it is compared, where memory is bounded."""
_HASHED: Final = 200_000
"""Pieces of all texts together that are hashed."""
_FEWEST_HASHED: Final = 16
"""Pieces of one text that are hashed at least, if it has as many."""
_RANDOM: Final = Random(1997)
_HASHES: Final = tuple(
    (_RANDOM.randrange(1, _PRIME), _RANDOM.randrange(_PRIME)) for _ in range(_BANDS * _ROWS)
)
"""Factor and summand of each hash, independent of each other."""
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
"""Thai, Lao, Burmese, Khmer, and Japanese syllables."""
_WITHOUT_SPACES: Final = re.compile(f"[{_HAN}{_UNSPACED}]")
_TOKEN: Final = re.compile(f"[{_HAN}]|[{_UNSPACED}]|[^{_HAN}{_UNSPACED}]+")
_LETTER: Final = re.compile(f"[{_UNSPACED}]")

Depth = Literal["whole", "quarter", "half", "numbers"]
"""The part of texts that is compared: all of it, or what is left without the pieces that more than
a quarter or half of the texts share; `numbers` leaves as much as `quarter`, and reads numbers."""
_COMMON: Final[Mapping[Depth, float]] = {
    "whole": 1.0,
    "quarter": 0.25,
    "half": 0.5,
    "numbers": 0.25,
}


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a text."""

    plain: frozenset[int]
    """Pieces with 0 for each number."""
    numbers: frozenset[int]
    """Pieces that have a number, as it is."""
    until: int | None
    """The highest piece that was kept; `None` if all were."""


def pieces_of(text: str, *, most: int | None = None) -> Pieces:
    """Returns the pieces of a text, or the `most` lowest ones."""
    tokens = _tokens(text)
    plain = ["0" if token.isdecimal() else token for token in tokens]
    found, numbers = set[int](), set[int]()
    last = max(1, len(tokens) - 1)
    for at in range(last):
        end = at + (3 if at < len(tokens) and _LETTER.match(tokens[at]) else 2)
        piece = plain[at:end]
        found.add(_hash(piece))
        if piece != tokens[at:end]:
            numbers.add(_hash(tokens[at:end]))
    if most is None or max(len(found), len(numbers)) <= most:
        return Pieces(frozenset(found), frozenset(numbers), None)
    kept = [heapq.nsmallest(most, each) for each in (found, numbers)]
    until = min(each[-1] for each in kept if len(each) == most)
    low, low_numbers = (frozenset(one for one in each if one <= until) for each in kept)
    return Pieces(low, low_numbers, until)


def near_duplicates(texts: Mapping[str, Pieces], depth: Depth = "whole") -> list[list[str]]:
    """Returns the keys of the texts, near-duplicates together, in an order that depends on the keys
    alone.
    """
    compared = _compared(texts, depth)
    parents = {key: key for key in texts}

    def root(key: str) -> str:
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for band in _bands(compared):
        seen = list[str]()
        for key in band:
            mine = root(key)
            others = [other for other in seen if root(other) != mine]
            for other in others:
                if _likeness(compared[key], compared[other]) >= _ALIKE:
                    parents[root(key)] = root(other)
            if len(others) == len(seen) < _COMPARED and root(key) == mine:
                seen.append(key)
    clusters = defaultdict[str, list[str]](list)
    for key in texts:
        clusters[root(key)].append(key)
    return sorted(clusters.values(), key=lambda cluster: min(map(_order, cluster)))


@dataclass(frozen=True, slots=True)
class _OwnPieces:
    pieces: frozenset[int]
    until: int | None


def _compared(texts: Mapping[str, Pieces], depth: Depth) -> dict[str, _OwnPieces]:
    """Returns the pieces that are compared; all of a text that has none of its own."""
    with_numbers = depth == "numbers"
    sets = {
        key: each.plain | each.numbers if with_numbers else each.plain
        for key, each in texts.items()
    }
    if depth == "whole":
        return {key: _OwnPieces(own, texts[key].until) for key, own in sets.items()}
    counts = Counter(piece for own in sets.values() for piece in own)
    most = _COMMON[depth] * len(sets)
    return {
        key: _OwnPieces(
            frozenset(piece for piece in own if counts[piece] <= most) or own, texts[key].until
        )
        for key, own in sets.items()
    }


def _tokens(text: str) -> list[str]:
    """Returns the words of a text; of scripts without spaces the characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(
        letter if letter.isalnum() or unicodedata.category(letter)[0] == "M" else " "
        for letter in plain
    )
    if _WITHOUT_SPACES.search(words) is None:
        return words.split()
    return [token for word in words.split() for token in _TOKEN.findall(word)]


def _order(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _hash(tokens: Sequence[str]) -> int:
    return zlib.crc32(" ".join(tokens).encode())


def _bands(texts: Mapping[str, _OwnPieces]) -> list[list[str]]:
    """Returns the keys whose texts share a band."""
    found = defaultdict[tuple[int, ...], list[str]](list)
    most = max(_FEWEST_HASHED, _HASHED // max(1, len(texts)))
    for key, own in texts.items():
        signature = _signature(heapq.nsmallest(most, own.pieces))
        for band in range(_BANDS):
            start = band * _ROWS
            found[band, *signature[start : start + _ROWS]].append(key)
    return [keys for keys in found.values() if len(keys) > 1]


def _signature(pieces: Sequence[int]) -> Sequence[int]:
    hashes = [_hashes(piece) for piece in pieces]
    return hashes[0] if len(hashes) == 1 else list(map(min, *hashes))


@lru_cache(maxsize=16_384)
def _hashes(piece: int) -> tuple[int, ...]:
    """Returns all hashes of a piece; those that many texts share are computed once."""
    return tuple([(factor * piece + summand) % _PRIME for factor, summand in _HASHES])


def _likeness(one: _OwnPieces, other: _OwnPieces) -> float:
    """Returns the share of common pieces: that of the low ones, where higher ones were not kept."""
    ends = [each.until for each in (one, other) if each.until is not None]
    mine, others = one.pieces, other.pieces
    if ends:
        end = min(ends)
        mine, others = (frozenset(each for each in all_ if each <= end) for all_ in (mine, others))
    return len(mine & others) / max(1, len(mine | others))
