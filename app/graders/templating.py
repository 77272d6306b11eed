"""Renders graders' templates, and decides who caused a rendering error.

A path that is missing in the sample, or a text of the sample that is too long, is caused by the
answer: it scores 0 with a flag. A path that is missing in the item, or a text of the row alone that
is too long, is a fault of the grader or the row: no answer could score, so it is a fault that
removes the rollout, never a 0. Faults of the row take precedence over those of the answer.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.graders.scorer import (
    ITEM_MISSING,
    ITEM_UNREADABLE,
    GradeRequest,
    GraderErrors,
    ScoreFault,
    ScoreResult,
)
from app.graders.templates import (
    MissingVariable,
    RenderBudget,
    RenderedTooLong,
    Template,
)


class Unrenderable(Exception):
    """A template cannot be rendered for a sample; `errors` contains the reason."""

    def __init__(self, errors: GraderErrors) -> None:
        super().__init__(errors.details)
        self.errors = errors

    @property
    def result(self) -> ScoreResult:
        return ScoreResult(0.0, self.errors)


def render(template: Template, request: GradeRequest, *, source: str) -> str:
    """Renders a template of the grader `source` for a sample. Raises `Unrenderable` or
    `ScoreFault`.
    """
    return render_all([template], request, source=source)[0]


def render_all(templates: Sequence[Template], request: GradeRequest, *, source: str) -> list[str]:
    """Renders templates as `render` does. The limit of one text applies to all of them together."""
    budget, texts = RenderBudget(sample=request.sample, item=request.item), dict[int, str]()
    for number, template in sorted(enumerate(templates), key=lambda one: one[1].reads_sample):
        with as_grader_errors(source):
            try:
                texts[number] = budget.render(template)
            except RenderedTooLong as error:
                errors = GraderErrors(other_error=True, details=str(error))
                raise unusable_text_fault([template], errors, source=source) from None
    return [texts[number] for number in range(len(templates))]


def unusable_text_fault(
    faulty: Sequence[Template], errors: GraderErrors, *, source: str
) -> Unrenderable | ScoreFault:
    """Returns the fault of unusable texts: the row's if one of them depends on the row only, else
    the answer's.
    """
    if all(template.reads_sample for template in faulty):
        return Unrenderable(errors)
    return unreadable_item(errors.details or "", source=source)


def unreadable_item(message: str, *, source: str) -> ScoreFault:
    """Returns the fault of a row whose value the grader cannot read."""
    message = f"the row cannot be graded: {message}"
    errors = GraderErrors(other_error=True, details=message)
    return ScoreFault(ITEM_UNREADABLE, message, source=source, errors=errors)


@contextmanager
def as_grader_errors(source: str) -> Iterator[None]:
    try:
        yield
    except MissingVariable as missing:
        errors = GraderErrors(invalid_variable_error=True, details=str(missing))
        if missing.namespace == "item":
            message = f"its template reads '{missing.path}', which the row does not have"
            raise ScoreFault(ITEM_MISSING, message, source=source, errors=errors) from None
        raise Unrenderable(errors) from None
    except RenderedTooLong as error:
        raise Unrenderable(GraderErrors(other_error=True, details=str(error))) from None
