"""Group judges for tests, which compare the siblings of a group and record their requests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.graders.kinds.ai_judge import GroupGradeRequest
from app.graders.scorer import ScoreResult


def answer_of(conversation: list[dict[str, Any]]) -> str:
    content: str = conversation[-1]["content"]
    return content


@dataclass
class RankingJudge:
    """Scores each rollout by its rank: the share of siblings whose answer is shorter than its own.

    Answers of equal length sort by text, so ranks are 0, 1/(n-1), …, 1 for distinct answers.
    """

    asked: list[GroupGradeRequest] = field(default_factory=list)

    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult]:
        self.asked.append(request)
        return [ScoreResult(score) for score in ranks(list(map(answer_of, request.conversations)))]


def ranks(answers: Sequence[str]) -> list[float]:
    def order(answer: str) -> tuple[int, str]:
        return len(answer), answer

    return [
        sum(order(other) < order(answer) for other in answers) / max(1, len(answers) - 1)
        for answer in answers
    ]
