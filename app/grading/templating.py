"""Renders graders' templates, and decides what a rendering error is.

A path that is missing in the sample, or a text that is too long, is caused by the answer: it scores
0 with a flag. A path that is missing in the item is a fault of the grader or the row: no answer
could score, so it is a fault that removes the rollout, never a 0.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from app.domain.graders.judge_prompts import Prompt
from app.domain.graders.templates import MAX_RENDERED, MissingVariable, RenderedTooLong, Template
from app.grading.scorer import ITEM_MISSING, GradeRequest, GraderErrors, ScoreFault, ScoreResult


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
    """Renders templates as `render` does. The bound of one text holds for all of them together:
    each of very many templates may name the same long value.
    """
    left, texts = MAX_RENDERED, list[str]()
    with _as_grader_errors(source):
        for template in templates:
            texts.append(template.render(sample=request.sample, item=request.item, limit=left))
            left -= len(texts[-1])
    return texts


def fill(prompt: Prompt, request: GradeRequest, *, source: str) -> list[dict[str, Any]]:
    """Renders a judge prompt of the grader `source` for a sample. Raises `Unrenderable` or
    `ScoreFault`.
    """
    with _as_grader_errors(source):
        return prompt.fill(sample=request.sample, item=request.item)


@contextmanager
def _as_grader_errors(source: str) -> Iterator[None]:
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
