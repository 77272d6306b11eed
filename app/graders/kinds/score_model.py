"""Scores with a judge that answers with a number."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    field_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import Number
from app.graders.judge import JudgedScorer, number_verdict
from app.graders.judge_prompts import (
    MAX_MESSAGES,
    FewMessages,
    JudgedGrader,
    JudgeMessage,
    Prompt,
    fill,
)
from app.graders.scorer import GradingPorts, Scorer


class ScoreModelGrader(JudgedGrader):
    """A model that answers with a number in `range`; another number is no score."""

    type: Literal["score_model"]
    name: str = Field(default="score_model", min_length=1, max_length=256)
    input: Annotated[list[JudgeMessage], FewMessages] = Field(min_length=1, max_length=MAX_MESSAGES)
    """The judge's prompt, whose texts are templates."""
    range: tuple[Number, Number] = (0.0, 1.0)
    """Lowest and highest score."""

    @field_validator("range", mode="before")
    @classmethod
    def _default_range(cls, value: Any) -> Any:
        return (0.0, 1.0) if value is None else value

    @field_validator("range")
    @classmethod
    def _ordered(cls, value: tuple[float, float]) -> tuple[float, float]:
        if value[0] >= value[1]:
            raise PydanticCustomError("range_error", "the first number must be below the second")
        return value

    @property
    @override
    def highest(self) -> float:
        return self.range[1]

    @property
    @override
    def lowest(self) -> float:
        return self.range[0]

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return JudgedScorer(
            self,
            ports.judges,
            number_verdict(*self.range),
            messages=partial(fill, Prompt(self.input), source=source),
            score=float,
            source=source,
        )
