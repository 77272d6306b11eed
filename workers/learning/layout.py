"""Layout of a packed batch: the token range of each row.

A packed batch is one long line of tokens without padding: for each group its shared prefix, then
what follows it in each of the group's rows. Plain numbers only, so that the layout needs no
tensors. Must not know models or samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that share their first `prefix` tokens; a row alone has a prefix of 0."""

    prefix: int
    branches: tuple[int, ...]
    """Tokens of each row after the prefix; 0 where the row ends with it."""

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
        """Each group with the index of its first token."""
        ends = accumulate((group.tokens for group in self.groups), initial=0)
        return list(zip(ends, self.groups, strict=False))

    def places(self) -> list[int]:
        """Position of every token in its row, from 0."""
        return [
            place
            for group in self.groups
            for first, length in (
                (0, group.prefix),
                *((group.prefix, branch) for branch in group.branches),
            )
            for place in range(first, first + length)
        ]

    def spans(self) -> list[tuple[range, range]]:
        """For each row, in order: the indices of its prefix and of its own tokens."""
        found = []
        for start, group in self.starts():
            own = start + group.prefix
            for branch in group.branches:
                found.append((range(start, start + group.prefix), range(own, own + branch)))
                own += branch
        return found


def alone(lengths: Sequence[int]) -> Layout:
    """Rows that share nothing."""
    return Layout(tuple(Group(0, (length,)) for length in lengths))
