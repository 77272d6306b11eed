"""`llm_judge`: a judge that scores one answer by a rubric, in any of four forms of a score."""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field
from typing_extensions import override

from app.domain.described import Described
from app.domain.graders.grader_model import ANSWER
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.judged import JudgedGrader

MAX_CRITERIA: Final = 32


class Criterion(Described):
    """One standard of a rubric."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1, max_length=128)
    """Name of the criterion."""
    description: str = Field(min_length=1, max_length=4000)
    """The question that it asks of an answer. Not a template."""
    weight: Annotated[float, Field(gt=0, le=1000, strict=True)] = 1.0
    """Its part in the score, relative to the other criteria."""


DEFAULT_RUBRIC: Final = (
    Criterion(name="correctness", description="Is everything that the answer says true?"),
    Criterion(name="helpfulness", description="Does it serve the need behind the question?"),
    Criterion(name="clarity", description="Is it easy to follow for its reader?"),
    Criterion(name="completeness", description="Is every part of the question answered?"),
)


class LlmJudgeGrader(JudgedGrader):
    """A judge's score of one answer by a rubric, divided by `scale`."""

    type: Literal["llm_judge"]
    name: str = Field(default="llm_judge", min_length=1, max_length=256)
    question: TemplateText = "{{item.messages}}"
    """Template of the question that was answered."""
    input: TemplateText = ANSWER
    """Template of the answer."""
    rubric: tuple[Criterion, ...] = Field(
        default=DEFAULT_RUBRIC, min_length=1, max_length=MAX_CRITERIA
    )
    """The criteria and their weights."""
    scale: int = Field(default=10, ge=1, le=100, strict=True)
    """The judge's highest score; the lowest is 0."""

    @property
    @override
    def highest(self) -> float:
        return 1.0
