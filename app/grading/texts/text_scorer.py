"""The base of graders that compute a score from rendered texts.

Owns the common behaviour: templates are rendered once per sample, and rendering errors are scored
by the rules of `app.grading.texts.templating`. Must not know the computation.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import final

from typing_extensions import override

from app.domain.graders.templates.templates import parse_template
from app.grading.local_scorer import LocalScorer
from app.grading.scorer import GradeRequest, GraderErrors, ScoreResult
from app.grading.texts.templating import render_all


class TextScorer(LocalScorer):
    def __init__(self, templates: Sequence[str], *, source: str) -> None:
        self._templates = [parse_template(template) for template in templates]
        self._source = source

    @final
    @override
    def grade(self, request: GradeRequest) -> ScoreResult:
        return self.compute(render_all(self._templates, request, source=self._source))

    @abstractmethod
    def compute(self, texts: list[str]) -> ScoreResult:
        """Returns the score of the rendered texts, in the order of the templates. Raises
        `Unrenderable` or `ScoreFault`.
        """


def unreadable(reason: str) -> ScoreResult:
    """Returns the score of a sample that is not in the form that the grader reads."""
    return ScoreResult(0.0, GraderErrors(sample_parse_error=True, details=reason), reason=reason)
