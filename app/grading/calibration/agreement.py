"""Agreement of rankings: Kendall's tau-b. Pure."""

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean


def kendall(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Returns tau-b of two lists of scores, `None` where all scores of one list are equal."""
    concordant = discordant = tied_left = tied_right = 0
    for first, second in combinations(range(len(left)), 2):
        by_left, by_right = left[first] - left[second], right[first] - right[second]
        concordant += by_left * by_right > 0
        discordant += by_left * by_right < 0
        tied_left += by_left == 0
        tied_right += by_right == 0
    pairs = len(left) * (len(left) - 1) // 2
    weight = math.sqrt((pairs - tied_left) * (pairs - tied_right))
    return (concordant - discordant) / weight if weight else None


def mean_agreement(rankings: Sequence[Sequence[float]]) -> float | None:
    """Returns the mean tau-b over all pairs of rankings, `None` where no pair has one."""
    found = [kendall(left, right) for left, right in combinations(rankings, 2)]
    known = [tau for tau in found if tau is not None]
    return fmean(known) if known else None
