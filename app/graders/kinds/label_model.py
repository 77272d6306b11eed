"""Scores with a judge that chooses a label: 1 for a passing one."""

from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    Field,
    StringConstraints,
    model_validator,
)
from typing_extensions import override

from app.graders.grader_model import MAX_PARTS, fault_at
from app.graders.judge import JudgedScorer, label_verdict
from app.graders.judge_prompts import (
    MAX_MESSAGES,
    FewMessages,
    JudgedGrader,
    JudgeMessage,
    Prompt,
    fill,
)
from app.graders.scorer import GradingPorts, Scorer
from app.graders.templates import LabelText

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
    def lowest(self) -> float:
        return 0.0 if set(self.labels) - set(self.passing_labels) else 1.0

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return JudgedScorer(
            self,
            ports.judges,
            label_verdict(self.labels),
            messages=partial(fill, Prompt(self.input), source=source),
            score=lambda label: float(label in self.passing_labels),
            source=source,
        )
