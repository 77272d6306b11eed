"""The two texts that a `text_similarity` grader compares, rendered within its bounds.

Promises, for every metric: a text of the row that is too long is a fault of the row, and the
rollout is lost; a text of the answer that is too long scores 0.
"""

from app.domain.graders.kinds.text_similarity import TextSimilarityGrader
from app.domain.graders.templates.templates import parse_template, too_long
from app.grading.scorer import GradeRequest, GraderErrors
from app.grading.texts.templating import render_all, unusable_text_fault


class TextPair:
    def __init__(self, spec: TextSimilarityGrader, *, source: str) -> None:
        self._templates = [parse_template(text) for text in (spec.input, spec.reference)]
        self._limits = [
            spec.longest_answer if template.reads_sample else spec.longest_reference
            for template in self._templates
        ]
        self._source = source

    def render(self, request: GradeRequest) -> list[str]:
        """Returns the text and its reference. Raises `Unrenderable` or `ScoreFault`."""
        texts = render_all(self._templates, request, source=self._source)
        over = [
            (template, limit)
            for template, text, limit in zip(self._templates, texts, self._limits, strict=True)
            if len(text) > limit
        ]
        if over:
            templates = [template for template, _ in over]
            longest = next((n for each, n in over if not each.reads_sample), over[0][1])
            errors = GraderErrors(other_error=True, details=too_long(longest))
            raise unusable_text_fault(templates, errors, source=self._source)
        return texts
