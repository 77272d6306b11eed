"""Judges that write the coded key of a repeated request into their answer."""

import re
from collections.abc import Iterator

from app.graders.judge_calls import InMemoryJudges, JudgeQuestion, JudgeReply

KEY = "KEY"
"""Stands for the coded key in an answer."""
_CODED = re.compile(r'"((?:result|score)_[0-9a-f]{10})"[^"]*(?:"\d+": [^"]*)*\.$')


def judge_that_says(*answers: str) -> InMemoryJudges:
    """Returns a judge with these answers, of which the last one is repeated."""
    left = _repeating(answers)
    return InMemoryJudges(lambda question: JudgeReply(next(left).replace(KEY, coded_key(question))))


def coded_key(question: JudgeQuestion) -> str:
    """Returns the key that a question requests; the plain word of a first question has none."""
    found = _CODED.search(question.messages[0]["content"])
    return KEY if found is None else found[1]


def _repeating(answers: tuple[str, ...]) -> Iterator[str]:
    yield from answers
    while True:
        yield answers[-1]
