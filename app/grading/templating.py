"""Renders graders' templates, and converts a rendering error to a score of 0 with a flag.

The sample or the row causes a missing variable or a text that is too long, so both score 0 and
never count as a failure of the rollout.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.domain.graders.judge_prompts import Prompt
from app.domain.graders.templates import MissingVariable, RenderedTooLong, Template
from app.grading.scorer import GradeRequest, GraderErrors, ScoreResult


class Unrenderable(Exception):
    """A template cannot be rendered for a sample; `errors` contains the reason."""

    def __init__(self, errors: GraderErrors) -> None:
        super().__init__(errors.details)
        self.errors = errors

    @property
    def result(self) -> ScoreResult:
        return ScoreResult(0.0, self.errors)


def render(template: Template, request: GradeRequest) -> str:
    """Renders a template for a sample. Raises `Unrenderable`."""
    with _as_unrenderable():
        return template.render(sample=request.sample, item=request.item)


def fill(prompt: Prompt, request: GradeRequest) -> list[dict[str, Any]]:
    """Renders a judge prompt for a sample. Raises `Unrenderable`."""
    with _as_unrenderable():
        return prompt.fill(sample=request.sample, item=request.item)


@contextmanager
def _as_unrenderable() -> Iterator[None]:
    try:
        yield
    except MissingVariable as missing:
        raise Unrenderable(
            GraderErrors(invalid_variable_error=True, details=str(missing))
        ) from None
    except RenderedTooLong as error:
        raise Unrenderable(GraderErrors(other_error=True, details=str(error))) from None
