"""Layout of a packed batch: the token range of each row.

A packed batch is one sequence of tokens without padding: for each group its shared prefix, then the
rest of each of the group's rows. The layout consists of plain numbers, without tensors. Must not
know models or samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that share their first `prefix` tokens; a single row has a prefix of 0."""

    prefix: int
    branches: tuple[int, ...]
    """Number of tokens of each row after the prefix; 0 if the row ends with it."""

    @property
    def tokens(self) -> int:
        return self.prefix + sum(self.branches)


@dataclass(frozen=True, slots=True)
class Layout:
    groups: tuple[Group, ...]

    @property
    def tokens(self) -> int:
        return sum(group.tokens for group in self.groups)

    @property
    def rows(self) -> int:
        return sum(len(group.branches) for group in self.groups)

    @property
    def shares(self) -> bool:
        return any(group.prefix for group in self.groups)

    def starts(self) -> list[tuple[int, Group]]:
        """Returns each group with the index of its first token."""
        ends = accumulate((group.tokens for group in self.groups), initial=0)
        return list(zip(ends, self.groups, strict=False))

    def positions(self) -> list[int]:
        """Returns the position of every token in its row, from 0."""
        return [
            position
            for group in self.groups
            for first, length in (
                (0, group.prefix),
                *((group.prefix, branch) for branch in group.branches),
            )
            for position in range(first, first + length)
        ]

    def spans(self) -> list[tuple[range, range]]:
        """Returns for each row, in order, the indices of its prefix and of its other tokens."""
        spans = []
        for start, group in self.starts():
            own = start + group.prefix
            for branch in group.branches:
                spans.append((range(start, start + group.prefix), range(own, own + branch)))
                own += branch
        return spans


def unshared_layout(lengths: Sequence[int]) -> Layout:
    """Returns the layout of rows that share no prefix."""
    return Layout(tuple(Group(0, (length,)) for length in lengths))
