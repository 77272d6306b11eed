"""Divides the rows of a file into clusters, so that each can be on one side of a division. Pure.

Near-duplicates are of one cluster. Where more than half of the rows with the same tags are in large
clusters, as rows of a few templates are, no division would have each tag on both sides: these are
then divided again, by what differs in them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.data.near_duplicates import Depth, Pieces, near_duplicates

Tags = tuple[str, ...]
_DEEPER: Final[Sequence[tuple[Depth, int]]] = (("quarter", 5), ("half", 5), ("numbers", 1))
"""Depths at which clusters are divided again, while the held-out part of some tags has no room
for so many of them. A part of fewer than five measures these clusters alone, but numbers are only
compared where not even one cluster has room.
"""
_FEWEST_PROMPTS: Final = 8
"""Prompts of a cluster that is divided again: fewer are repeats, and not a template."""


@dataclass(frozen=True, slots=True)
class RowClusters:
    clusters: list[list[str]]
    """Keys of prompts, those of one cluster together."""
    divided: frozenset[str]
    """Prompts that are so alike that they were divided by what differs in them."""


def row_clusters(
    texts: Mapping[str, Pieces], rows: Mapping[str, Counter[Tags]], *, share: float
) -> RowClusters:
    """Returns the clusters of the prompts. `rows` counts the rows of each prompt by their tags;
    `share` of all rows is to be held out.
    """
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
    """Returns the most frequent combination of tags."""
    total = sum((rows[key] for key in cluster), Counter[Tags]())
    return min(total, key=lambda each: (-total[each], each))


def _too_large(
    clusters: Sequence[Sequence[str]], rows: Mapping[str, Counter[Tags]], share: float
) -> set[int]:
    """Returns the positions of the clusters that must be divided."""
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
