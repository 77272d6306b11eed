"""Tags of rows, near-duplicate prompts, and the division of rows into two files."""

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
from typing import Any, Final, Literal

from app.files.rows import MAX_VALID_EXAMPLES, MIN_EXAMPLES

TAG_FIELD: Final = "tags"
_LONGEST: Final = 80
_MOST: Final = 20


def tags_of(row: Mapping[str, Any], field: str = TAG_FIELD) -> list[str]:
    value = row.get(field)
    values = value[:_MOST] if isinstance(value, list) else [value]
    tags = [_text(one)[:_LONGEST] for one in values if isinstance(one, str | int | float)]
    return list(dict.fromkeys(tag for tag in tags if tag))


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value.strip()
    try:
        return f"{value:g}"
    except OverflowError:  # a whole number that is larger than any of floating point
        return str(value)


UNREAD_DIFFICULTY: Final = "unread_difficulty"
UNREAD_DIFFICULTY_MESSAGE: Final = (
    "A 'difficulty' is no number from 0 (easiest) to 1 (hardest): an ordering of a job does not "
    "read it."
)


def difficulty_of(row: Mapping[str, Any]) -> float | None:
    value = row.get("difficulty")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= 1 else None


def has_unread_difficulty(row: Mapping[str, Any]) -> bool:
    return row.get("difficulty") is not None and difficulty_of(row) is None


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
_FEWEST_HASHED: Final = 16
"""Pieces of one text that are hashed at least, if it has as many."""
_RANDOM: Final = Random(1997)
_HASHES: Final = tuple(
    (_RANDOM.randrange(1, _PRIME), _RANDOM.randrange(_PRIME)) for _ in range(_BANDS * _ROWS)
)
"""Factor and summand of each hash, independent of each other."""
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
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
    plain: frozenset[int]
    numbers: frozenset[int]
    until: int | None
    """The highest piece that was kept; `None` if all were."""


def pieces_of(text: str, *, most: int | None = None) -> Pieces:
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
    """Returns the keys, near-duplicates together, in an order that depends on the keys alone."""
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
    return sorted(clusters.values(), key=lambda cluster: min(map(_digest, cluster)))


@dataclass(frozen=True, slots=True)
class _OwnPieces:
    pieces: frozenset[int]
    until: int | None


def _compared(texts: Mapping[str, Pieces], depth: Depth) -> dict[str, _OwnPieces]:
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
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(
        letter if letter.isalnum() or unicodedata.category(letter)[0] == "M" else " "
        for letter in plain
    )
    if _WITHOUT_SPACES.search(words) is None:
        return words.split()
    return [token for word in words.split() for token in _TOKEN.findall(word)]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _hash(tokens: Sequence[str]) -> int:
    return zlib.crc32(" ".join(tokens).encode())


def _bands(texts: Mapping[str, _OwnPieces]) -> list[list[str]]:
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
    return tuple([(factor * piece + summand) % _PRIME for factor, summand in _HASHES])


def _likeness(one: _OwnPieces, other: _OwnPieces) -> float:
    ends = [each.until for each in (one, other) if each.until is not None]
    mine, others = one.pieces, other.pieces
    if ends:
        end = min(ends)
        mine, others = (frozenset(each for each in all_ if each <= end) for all_ in (mine, others))
    return len(mine & others) / max(1, len(mine | others))


Tags = tuple[str, ...]
_DEEPER: Final[Sequence[tuple[Depth, int]]] = (("quarter", 5), ("half", 5), ("numbers", 1))
"""Depths at which too large clusters are divided again. A part of fewer than five measures them
alone; numbers are compared only where not even one cluster has room."""
_FEWEST_PROMPTS: Final = 8
"""Prompts of a cluster that is divided again: fewer are repeats, and not a template."""


@dataclass(frozen=True, slots=True)
class RowClusters:
    clusters: list[list[str]]
    divided: frozenset[str]
    """Prompts that are so alike that they were divided by what differs in them."""


def row_clusters(
    texts: Mapping[str, Pieces], rows: Mapping[str, Counter[Tags]], *, share: float
) -> RowClusters:
    clusters, divided = near_duplicates(texts), set[str]()
    for depth, fewest in _DEEPER if share > 0 else ():
        large = _too_large(clusters, rows, share / fewest)
        if not large:
            break
        found = list[list[str]]()
        for number, cluster in enumerate(clusters):
            parts = [cluster]
            if number in large:
                parts = near_duplicates({key: texts[key] for key in cluster}, depth)
                divided |= set(cluster) if len(parts) > 1 else set()
            found += parts
        clusters = found
    return RowClusters(clusters, frozenset(divided))


def tags_of_cluster(cluster: Sequence[str], rows: Mapping[str, Counter[Tags]]) -> Tags:
    total = sum((rows[key] for key in cluster), Counter[Tags]())
    return min(total, key=lambda each: (-total[each], each))


def _too_large(
    clusters: Sequence[Sequence[str]], rows: Mapping[str, Counter[Tags]], share: float
) -> set[int]:
    strata = defaultdict[Tags, list[int]](list)
    sizes = [sum(rows[key].total() for key in cluster) for cluster in clusters]
    for number, cluster in enumerate(clusters):
        strata[tags_of_cluster(cluster, rows)].append(number)
    found = set[int]()
    for numbers in strata.values():
        total = sum(sizes[number] for number in numbers)
        most = share * total
        large = [
            number
            for number in numbers
            if sizes[number] > most and len(clusters[number]) >= _FEWEST_PROMPTS
        ]
        if 2 * sum(sizes[number] for number in large) > total:
            found |= set(large)
    return found


@dataclass(frozen=True, slots=True)
class StratifiedRow:
    key: str
    tags: Tags


@dataclass(frozen=True, slots=True)
class Division:
    held_out: frozenset[str]
    reason: str | None
    """The reason for holding out nothing, or less than the share; `None` if the share is."""


TOO_FEW: Final = "too few rows for two files: nothing is held out"
_MOST_CARRIED: Final = 1.0
"""Rows that one combination of tags may hold out for another: what rounding leaves."""
ONE_CLUSTER: Final = (
    "so many rows are nearly the same that no two parts have {wanted} rows each without leakage"
)


def cluster_and_divide(
    rows: Sequence[StratifiedRow], pieces: Mapping[str, Pieces], *, share: float, seed: int = 0
) -> tuple[RowClusters, Division]:
    wanted = wanted_rows(len(rows), share) / max(1, len(rows))
    clustered = row_clusters(pieces, rows_by_tags(rows), share=wanted)
    return clustered, divide(rows, clustered.clusters, share=share, seed=seed)


def divide(
    rows: Sequence[StratifiedRow], clusters: Sequence[Sequence[str]], *, share: float, seed: int = 0
) -> Division:
    """Each combination of tags gives its share, rounding is carried on; no cluster is divided."""
    if share == 0:
        return Division(frozenset(), None)
    wanted = wanted_rows(len(rows), share)
    if wanted == 0:
        return Division(frozenset(), TOO_FEW)
    counts = Counter(row.key for row in rows)
    strata = _strata(rows, clusters, seed)
    chosen = _chosen(strata, counts, wanted / len(rows))
    _fill(chosen, [cluster for stratum in strata for cluster in stratum], counts, wanted)
    held = sum(counts[key] for key in chosen)
    if min(held, len(rows) - held) < MIN_EXAMPLES:  # each side is a file of a job
        return Division(frozenset(), ONE_CLUSTER.format(wanted=MIN_EXAMPLES))
    cut = share * len(rows) > wanted + 1
    capped = f"at most {MAX_VALID_EXAMPLES} rows may be held out" if cut else None
    return Division(frozenset(chosen), capped)


def wanted_rows(rows: int, share: float) -> int:
    if share == 0 or rows < 2 * MIN_EXAMPLES:
        return 0
    most = min(rows - MIN_EXAMPLES, MAX_VALID_EXAMPLES)
    return max(MIN_EXAMPLES, min(round(share * rows), most))


def rows_by_tags(rows: Sequence[StratifiedRow]) -> dict[str, Counter[Tags]]:
    found = defaultdict[str, Counter[Tags]](Counter)
    for row in rows:
        found[row.key][row.tags] += 1
    return found


def _strata(
    rows: Sequence[StratifiedRow], clusters: Sequence[Sequence[str]], seed: int
) -> list[list[Sequence[str]]]:
    """Returns the clusters of each combination of tags, its most frequent one, in seeded order."""
    tags = rows_by_tags(rows)
    strata = defaultdict[Tags, list[Sequence[str]]](list)
    for cluster in clusters:
        strata[tags_of_cluster(cluster, tags)].append(cluster)
    return [
        sorted(strata[each], key=lambda cluster: _digest(f"{seed}/{min(cluster)}"))
        for each in sorted(strata)
    ]


def _chosen(
    strata: Sequence[Sequence[Sequence[str]]], counts: Counter[str], share: float
) -> set[str]:
    chosen, owed = set[str](), 0.0
    for clusters in strata:
        owed += share * sum(counts[key] for cluster in clusters for key in cluster)
        for cluster in clusters:
            size = sum(counts[key] for key in cluster)
            if size <= owed + 0.5:
                chosen.update(cluster)
                owed -= size
        owed = min(owed, _MOST_CARRIED)
    return chosen


def _fill(
    chosen: set[str], clusters: Sequence[Sequence[str]], counts: Counter[str], wanted: int
) -> None:
    held = sum(counts[key] for key in chosen)
    sizes = {min(cluster): sum(counts[key] for key in cluster) for cluster in clusters}
    for cluster in sorted(clusters, key=lambda each: sizes[min(each)]):
        size = sizes[min(cluster)]
        if held >= MIN_EXAMPLES or held + size > 2 * wanted:
            break
        if chosen.isdisjoint(cluster):
            chosen.update(cluster)
            held += size
