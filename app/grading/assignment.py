"""Pairs expected with actual entries so that the sum of the pairs' scores is highest. Pure.

Each entry is in one pair at most. Scores are not negative, so that further pairs never lower the
sum.
"""

import math
from collections.abc import Sequence

Scores = Sequence[Sequence[float]]
"""Score of each pair of expected entry (row) and actual entry (column)."""


def best_in_order(scores: Scores) -> list[float]:
    """Returns the score of each expected entry if pairs must have the same order on both sides."""
    columns = len(scores[0]) if scores else 0
    best = [[0.0] * (columns + 1) for _ in range(len(scores) + 1)]
    for row in range(len(scores) - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = scores[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    found, row, column = [0.0] * len(scores), 0, 0
    while row < len(scores) and column < columns:
        if best[row][column] == best[row][column + 1]:
            column += 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            found[row] = scores[row][column]
            row, column = row + 1, column + 1
    return found


def best_in_any_order(scores: Scores) -> list[float]:
    """Returns the score of each expected entry in the best assignment (Kuhn's method with
    potentials, in cubic time).
    """
    rows, columns = len(scores), max(len(scores), len(scores[0]) if scores else 0)
    cost = [[-score for score in row] + [0.0] * (columns - len(row)) for row in scores]
    row_of = [-1] * columns
    row_price, column_price = [0.0] * rows, [0.0] * columns
    for start in range(rows):
        row_of = _augmented(start, cost, row_of, (row_price, column_price))
    found = [0.0] * rows
    for column, row in enumerate(row_of):
        if row >= 0 and column < len(scores[row]):
            found[row] = scores[row][column]
    return found


def _augmented(
    start: int,
    cost: list[list[float]],
    row_of: list[int],
    prices: tuple[list[float], list[float]],
) -> list[int]:
    """Returns the assignment with the row `start` added, by the shortest path to a free column."""
    row_price, column_price = prices
    columns = len(row_of)
    distance = [math.inf] * columns
    before = [-1] * columns
    done = [False] * columns
    row, column = start, -1
    while True:
        shortest, nearest = math.inf, -1
        for each in range(columns):
            if done[each]:
                continue
            reduced = cost[row][each] - row_price[row] - column_price[each]
            if reduced < distance[each]:
                distance[each], before[each] = reduced, column
            if distance[each] < shortest:
                shortest, nearest = distance[each], each
        row_price[start] += shortest
        for each in range(columns):
            if done[each]:
                row_price[row_of[each]] += shortest
                column_price[each] -= shortest
            else:
                distance[each] -= shortest
        column = nearest
        done[column] = True
        if row_of[column] == -1:
            break
        row = row_of[column]
    assigned = list(row_of)
    while column != -1:
        assigned[column] = start if before[column] == -1 else assigned[before[column]]
        column = before[column]
    return assigned
