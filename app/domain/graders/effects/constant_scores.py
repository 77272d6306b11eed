"""Finds graders whose score is the same for every answer, and passing scores that nothing reads.

Must not know methods, rows or how a score is computed.
"""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Final

from app.domain.graders.grader_model import GraderModel

_TRIED: Final = 200
"""Scores of its parts for which a formula is computed, unless two of its values differ earlier."""
_WIDEST: Final = 10.0
"""Assumed limits of a part whose definition has none."""


def constant_score(grader: GraderModel) -> str | None:
    """Returns why the score of the grader cannot vary; `None` for one that can."""
    if grader.lowest is not None and grader.lowest == grader.highest:
        return f"it has no other score than {grader.lowest:g}"
    value = _constant_value(grader) if grader.parts else None
    return None if value is None else f"its formula is {value:g} for every score"


def unread_thresholds(grader: GraderModel) -> Iterator[str]:
    """Yields the names of the parts that have a `pass_threshold`, which only the whole needs."""
    for name, part in grader.parts.items():
        if part.pass_threshold is not None:
            yield name


def _constant_value(grader: GraderModel) -> float | None:
    found: float | None = None
    for scores in islice(_scores(grader), _TRIED):
        value = grader.combined(scores)
        if value is None:
            continue
        if found is not None and value != found:
            return None
        found = value
    return found


def _scores(grader: GraderModel) -> Iterator[dict[str, float]]:
    """Yields scores of the parts: all lowest, all highest, one alone high or low, then others."""
    limits = {name: _limits(part) for name, part in grader.parts.items()}
    lowest = {name: low for name, (low, _) in limits.items()}
    highest = {name: high for name, (_, high) in limits.items()}
    yield lowest
    yield highest
    chance = random.Random(0)
    yield {name: chance.uniform(*ends) for name, ends in limits.items()}
    for name in limits:
        yield {**lowest, name: highest[name]}
        yield {**highest, name: lowest[name]}
    while True:
        yield {name: chance.choice((*ends, chance.uniform(*ends))) for name, ends in limits.items()}


def _limits(part: GraderModel) -> tuple[float, float]:
    low = -_WIDEST if part.lowest is None else part.lowest
    return low, max(low, _WIDEST) if part.highest is None else part.highest
