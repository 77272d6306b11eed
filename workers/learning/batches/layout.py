"""Layout of a packed batch: the token range of each row.

A packed batch is one sequence of tokens without padding: for each prefix tree its shared prefix,
then the rest of each of its rows. The layout consists of plain numbers, without tensors. Must not
know models or samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Rows of a batch that share their first `prefix` tokens; a single row has a prefix of 0."""

    prefix: int
    branches: tuple[int, ...]
    """Number of tokens of each row after the prefix; 0 if the row ends with it."""

    @property
    def tokens(self) -> int:
        return self.prefix + sum(self.branches)


@dataclass(frozen=True, slots=True)
class Layout:
    trees: tuple[PrefixTree, ...]

    @property
    def tokens(self) -> int:
        return sum(tree.tokens for tree in self.trees)

    @property
    def rows(self) -> int:
        return sum(len(tree.branches) for tree in self.trees)

    @property
    def shares(self) -> bool:
        return any(tree.prefix for tree in self.trees)

    def starts(self) -> list[tuple[int, PrefixTree]]:
        """Returns each tree with the index of its first token."""
        ends = accumulate((tree.tokens for tree in self.trees), initial=0)
        return list(zip(ends, self.trees, strict=False))

    def positions(self) -> list[int]:
        """Returns the position of every token in its row, from 0."""
        return [
            position
            for tree in self.trees
            for first, length in (
                (0, tree.prefix),
                *((tree.prefix, branch) for branch in tree.branches),
            )
            for position in range(first, first + length)
        ]

    def spans(self) -> list[tuple[range, range]]:
        """Returns for each row, in order, the indices of its prefix and of its other tokens."""
        spans = []
        for start, tree in self.starts():
            own = start + tree.prefix
            for branch in tree.branches:
                spans.append((range(start, start + tree.prefix), range(own, own + branch)))
                own += branch
        return spans


def unshared_layout(lengths: Sequence[int]) -> Layout:
    """Returns the layout of rows that share no prefix."""
    return Layout(tuple(PrefixTree(0, (length,)) for length in lengths))
