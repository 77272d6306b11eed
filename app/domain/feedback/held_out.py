"""Divides the groups of prompts into training and held-out ones. Pure."""

from collections.abc import Mapping


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
