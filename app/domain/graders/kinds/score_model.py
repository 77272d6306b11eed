"""`score_model`: a judge that answers with a number. Source: the hosted graders guide; `base_url`
and `headers` are extensions of this project.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.grader_model import Number
from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.judge_prompts import MAX_MESSAGES, FewMessages, JudgeMessage


class ScoreModelGrader(JudgedGrader):
    """A model that answers with a number, clamped to `range`."""

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
