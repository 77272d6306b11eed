"""Templates as graders fill them: what a path that leads nowhere, or a flood of text, is scored.

Both are the sample's or the row's doing, so they score 0 with a flag and never cost a rollout.
"""

from app.domain.templates import MissingVariable, RenderedTooLong, Template
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
    try:
        return template.render(sample=request.sample, item=request.item)
    except MissingVariable as missing:
        raise Unrenderable(
            GraderErrors(invalid_variable_error=True, details=str(missing))
        ) from None
    except RenderedTooLong as flood:
        raise Unrenderable(GraderErrors(other_error=True, details=str(flood))) from None
