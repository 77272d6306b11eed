"""Groups the rows of a file so that each group can be on one side of a division. Pure.

Near-duplicates are of one group. Where more than half of the rows with the same tags are in large
groups, as rows of a few templates are, no division would have each tag on both sides: these groups
are then divided again, by what differs in them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.data.near_duplicates import Depth, Pieces, near_duplicates

Tags = tuple[str, ...]
_DEEPER: Final[Sequence[tuple[Depth, int]]] = (("quarter", 5), ("half", 5), ("numbers", 1))
"""Depths at which groups are divided again, while the held-out part of some tags has no room
for so many of them. A part of fewer than five measures these groups alone, but numbers are only
compared where not even one group has room.
"""
_FEWEST_PROMPTS: Final = 8
"""Prompts of a group that is divided again: fewer are repeats, and not a template."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    groups: list[list[str]]
    """Keys of prompts, those of one group together."""
    divided: frozenset[str]
    """Prompts that are so alike that they were divided by what differs in them."""


def row_groups(
    texts: Mapping[str, Pieces], rows: Mapping[str, Counter[Tags]], *, share: float
) -> RowGroups:
    """Returns the groups of the prompts. `rows` counts the rows of each prompt by their tags;
    `share` of all rows is to be held out.
    """
    groups, divided = near_duplicates(texts), set[str]()
    for depth, fewest in _DEEPER if share > 0 else ():
        large = _too_large(groups, rows, share / fewest)
        if not large:
            break
        found = list[list[str]]()
        for number, group in enumerate(groups):
            parts = [group]
            if number in large:
                parts = near_duplicates({key: texts[key] for key in group}, depth)
                divided |= set(group) if len(parts) > 1 else set()
            found += parts
        groups = found
    return RowGroups(groups, frozenset(divided))


def tags_of_group(group: Sequence[str], rows: Mapping[str, Counter[Tags]]) -> Tags:
    """Returns the most frequent combination of tags."""
    total = sum((rows[key] for key in group), Counter[Tags]())
    return min(total, key=lambda each: (-total[each], each))


def _too_large(
    groups: Sequence[Sequence[str]], rows: Mapping[str, Counter[Tags]], share: float
) -> set[int]:
    """Returns the places of the groups that must be divided."""
    strata = defaultdict[Tags, list[int]](list)
    sizes = [sum(rows[key].total() for key in group) for group in groups]
    for number, group in enumerate(groups):
        strata[tags_of_group(group, rows)].append(number)
    found = set[int]()
    for numbers in strata.values():
        total = sum(sizes[number] for number in numbers)
        most = share * total
        large = [
            number
            for number in numbers
            if sizes[number] > most and len(groups[number]) >= _FEWEST_PROMPTS
        ]
        if 2 * sum(sizes[number] for number in large) > total:
            found |= set(large)
    return found
