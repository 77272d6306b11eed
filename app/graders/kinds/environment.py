"""Scores with the rewards of the job's HTTP environment, as `sample.environment` has them."""

import math
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from app.graders.grader_model import GraderModel
from app.graders.scorer import (
    NO_REWARD,
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
)
from app.graders.text_scorer import LocalScorer


class EnvironmentGrader(GraderModel):
    """The sum of the rewards that the job's HTTP environment gave in a rollout's steps."""

    needs_environment: ClassVar[bool] = True

    type: Literal["environment"]
    name: str = Field(default="environment", min_length=1, max_length=256)

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return EnvironmentScorer(source=source)


class EnvironmentScorer(LocalScorer):
    def __init__(self, *, source: str) -> None:
        self._source = source

    @override
    def grade(self, request: GradeRequest) -> ScoreResult:
        found = request.sample.get("environment")
        found = found if isinstance(found, dict) else {}
        reward = _number(found.get("reward"))
        if reward is None:
            raise self._fault(found)
        sent = found.get("components")
        components = {
            str(name): number
            for name, value in (sent.items() if isinstance(sent, dict) else ())
            if (number := _number(value)) is not None
        }
        return ScoreResult(reward, sub_scores=components)

    def _fault(self, found: dict[str, Any]) -> ScoreFault:
        message = (
            "the environment ended the episode and gave no reward in any step"
            if found.get("done") is True
            else "the sample has no reward of an environment"
        )
        errors = GraderErrors(sample_parse_error=True, details=message)
        return ScoreFault(NO_REWARD, message, source=self._source, errors=errors)


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer of over 308 digits, which the bound of scores refuses
        return math.inf
