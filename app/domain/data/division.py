"""Chooses the held-out part of rows: whole clusters of near-duplicates, of all tags. Pure."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.data.example_counts import MAX_VALID_EXAMPLES, MIN_EXAMPLES
from app.domain.data.near_duplicates import Pieces
from app.domain.data.row_clusters import RowClusters, Tags, row_clusters, tags_of_cluster


@dataclass(frozen=True, slots=True)
class StratifiedRow:
    """The parts of a row that decide its side: its prompt, and the tags of its stratum."""

    key: str
    """Digest of its prompt."""
    tags: Tags


@dataclass(frozen=True, slots=True)
class Division:
    held_out: frozenset[str]
    """Keys of the rows that are held out; whole clusters."""
    reason: str | None
    """The reason for holding out nothing, or less than the share; `None` if the share is."""


TOO_FEW: Final = "too few rows for two files: nothing is held out"
_MOST_CARRIED: Final = 1.0
"""Rows of one combination of tags that the next one may hold out in its place: what rounding
leaves, and not the share of clusters that are too large for it.
"""
ONE_CLUSTER: Final = (
    "so many rows are nearly the same that no two parts have {wanted} rows each without leakage"
)


def cluster_and_divide(
    rows: Sequence[StratifiedRow], pieces: Mapping[str, Pieces], *, share: float, seed: int = 0
) -> tuple[RowClusters, Division]:
    """Returns the clusters of near-duplicates among the prompts, whose pieces are by key, and the
    division of the rows by whole clusters.
    """
    wanted = wanted_rows(len(rows), share) / max(1, len(rows))
    clustered = row_clusters(pieces, rows_by_tags(rows), share=wanted)
    return clustered, divide(rows, clustered.clusters, share=share, seed=seed)


def divide(
    rows: Sequence[StratifiedRow], clusters: Sequence[Sequence[str]], *, share: float, seed: int = 0
) -> Division:
    """Returns the held-out keys. `clusters` have every key of the rows once; each is on one side.

    Each combination of tags gives its share; what rounding leaves is carried to the next one. Where
    whole clusters give less than a job needs, further ones are added.
    """
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
    """Returns how many of so many rows are to be held out; 0 if they are too few for two files."""
    if share == 0 or rows < 2 * MIN_EXAMPLES:
        return 0
    most = min(rows - MIN_EXAMPLES, MAX_VALID_EXAMPLES)
    return max(MIN_EXAMPLES, min(round(share * rows), most))


def rows_by_tags(rows: Sequence[StratifiedRow]) -> dict[str, Counter[Tags]]:
    """Returns the number of rows of each prompt, by their tags."""
    found = defaultdict[str, Counter[Tags]](Counter)
    for row in rows:
        found[row.key][row.tags] += 1
    return found


def _strata(
    rows: Sequence[StratifiedRow], clusters: Sequence[Sequence[str]], seed: int
) -> list[list[Sequence[str]]]:
    """Returns the clusters of each combination of tags, in an order that the seed decides. One with
    several combinations counts for the most frequent one.
    """
    tags = rows_by_tags(rows)
    strata = defaultdict[Tags, list[Sequence[str]]](list)
    for cluster in clusters:
        strata[tags_of_cluster(cluster, tags)].append(cluster)
    return [
        sorted(strata[each], key=lambda cluster: _draw(seed, min(cluster)))
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
    """Adds the smallest clusters while a job needs more held-out rows than the shares gave, up to
    twice the rows that are wanted.
    """
    held = sum(counts[key] for key in chosen)
    sizes = {min(cluster): sum(counts[key] for key in cluster) for cluster in clusters}
    for cluster in sorted(clusters, key=lambda each: sizes[min(each)]):
        size = sizes[min(cluster)]
        if held >= MIN_EXAMPLES or held + size > 2 * wanted:
            break
        if chosen.isdisjoint(cluster):
            chosen.update(cluster)
            held += size


def _draw(seed: int, key: str) -> bytes:
    return hashlib.sha256(f"{seed}/{key}".encode()).digest()
