"""`llm_judge`: a judge that scores one answer by a rubric, in any of four forms of a score."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.faults.closed_models import ClosedModel
from app.domain.graders.grader_model import ANSWER
from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.templates.plain_texts import CriterionText

MAX_CRITERIA: Final = 32


class Criterion(ClosedModel):
    """One criterion of a rubric."""

    name: CriterionText = Field(min_length=1, max_length=128)
    """Name of the criterion, unique in the rubric."""
    description: CriterionText = Field(min_length=1, max_length=4000)
    """The criterion in words. Not a template."""
    weight: Annotated[float, Field(gt=0, le=1000, strict=True)] = 1.0
    """Its weight in the score, relative to the other criteria."""


def _named_apart(rubric: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    """Raises `ValidationError` for the second criterion with the same name: a judge might count it
    once or twice.
    """
    seen = set[str]()
    for index, criterion in enumerate(rubric):
        name = criterion.name.strip().casefold()
        if name in seen:
            message = "another criterion has this name: join the two, or name them apart"
            fault = PydanticCustomError("grader_error", "{fault}", {"fault": message})
            raise ValidationError.from_exception_data(
                "Rubric", [{"type": fault, "loc": (index, "name"), "input": criterion.name}]
            )
        seen.add(name)
    return rubric


Rubric = Annotated[
    tuple[Criterion, ...],
    Field(min_length=1, max_length=MAX_CRITERIA),
    AfterValidator(_named_apart),
]
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
    rubric: Rubric = DEFAULT_RUBRIC
    """The criteria and their weights; their texts are not templates."""
    scale: int = Field(default=10, ge=1, le=100, strict=True)
    """The judge's highest score; the lowest is 0."""

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0
