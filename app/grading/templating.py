"""Templates as graders fill them: what a path that leads nowhere, or a flood of text, is scored.

Both are the sample's or the row's doing, so they score 0 with a flag and never cost a rollout.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.domain.graders.judge_prompts import Prompt
from app.domain.graders.templates import MissingVariable, RenderedTooLong, Template
from app.grading.scorer import GradeRequest, GraderErrors, ScoreResult


class Unrenderable(Exception):
    """`errors` say why."""

    def __init__(self, errors: GraderErrors) -> None:
        super().__init__(errors.details)
        self.errors = errors

    @property
    def result(self) -> ScoreResult:
        return ScoreResult(0.0, self.errors)


def render(template: Template, request: GradeRequest) -> str:
    """Raises `Unrenderable`."""
    with _told():
        return template.render(sample=request.sample, item=request.item)


def fill(prompt: Prompt, request: GradeRequest) -> list[dict[str, Any]]:
    """Raises `Unrenderable`."""
    with _told():
        return prompt.fill(sample=request.sample, item=request.item)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except MissingVariable as missing:
        raise Unrenderable(
            GraderErrors(invalid_variable_error=True, details=str(missing))
        ) from None
    except RenderedTooLong as flood:
        raise Unrenderable(GraderErrors(other_error=True, details=str(flood))) from None
