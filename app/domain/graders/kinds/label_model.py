"""`label_model`: a judge that chooses one of a few labels. Source: the hosted graders guide."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import override

from app.domain.graders.grader_model import MAX_PARTS, fault_at
from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.judge_prompts import MAX_MESSAGES, FewMessages, JudgeMessage
from app.domain.graders.templates.plain_texts import LabelText

Label = Annotated[LabelText, StringConstraints(min_length=1, max_length=256)]


class LabelModelGrader(JudgedGrader):
    """1 when the label that the model chooses is one of the passing ones, else 0."""

    passing_score: ClassVar[float | None] = 1.0
    type: Literal["label_model"]
    name: str = Field(default="label_model", min_length=1, max_length=256)
    input: Annotated[list[JudgeMessage], FewMessages] = Field(min_length=1, max_length=MAX_MESSAGES)
    """The judge's prompt, whose texts are templates."""
    labels: list[Label] = Field(min_length=1, max_length=MAX_PARTS)
    """Labels that the judge chooses from."""
    passing_labels: list[Label] = Field(min_length=1, max_length=MAX_PARTS)
    """Labels that score 1."""

    @model_validator(mode="after")
    def _passing_labels_are_labels(self) -> Self:
        unknown = next((label for label in self.passing_labels if label not in self.labels), None)
        if unknown is not None:
            raise fault_at("passing_labels", f"'{unknown[:80]}' is not one of 'labels'")
        return self

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0 if set(self.labels) - set(self.passing_labels) else 1.0
