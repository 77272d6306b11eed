"""The base of graders that compute a score from rendered texts and call nothing.

Owns the common behaviour: templates are rendered once per sample, rendering errors are scored by
the rules of `app.grading.texts.templating`, and long texts are scored on a thread. Must not know
the computation.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from app.domain.graders.templates.templates import parse_template
from app.grading.computing import LONG_TEXT, run_on_scoring_thread
from app.grading.scorer import GradeRequest, GraderErrors, ScoreResult
from app.grading.texts.templating import Unrenderable, render_all


class TextScorer(ABC):
    """Implements `Scorer`."""

    def __init__(self, templates: Sequence[str], *, source: str) -> None:
        self._templates = [parse_template(template) for template in templates]
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            texts = render_all(self._templates, request, source=self._source)
            if sum(map(len, texts)) < LONG_TEXT:
                return self.compute(texts)
            return await run_on_scoring_thread(lambda: self.compute(texts))
        except Unrenderable as fault:
            return fault.result

    @abstractmethod
    def compute(self, texts: list[str]) -> ScoreResult:
        """Returns the score of the rendered texts, in the order of the templates. Raises
        `Unrenderable` or `ScoreFault`.
        """


def unreadable(reason: str) -> ScoreResult:
    """Returns the score of a sample that is not in the form that the grader reads."""
    return ScoreResult(0.0, GraderErrors(sample_parse_error=True, details=reason), reason=reason)
