"""Scores the cosine of the embeddings of two texts, 0…1; a negative one scores 0.

Promises: an embedding that cannot be had is a fault and never a 0. A blank text is like no other
and scores 0 without a request.
"""

from typing import Final

from app.domain.graders.kinds.text_similarity import TextSimilarityGrader
from app.domain.graders.templates import parse_template
from app.gateways.endpoints.pool import FaultKind
from app.gateways.inference.embeddings import EmbeddingFault, Embeddings
from app.grading.scorer import GradeRequest, GraderErrors, ScoreFault, ScoreResult, TokenUsage
from app.grading.templating import Unrenderable, render

MAX_CHARACTERS: Final = 32_768
"""Limit for each text, about what embedding models read."""


class CosineScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: TextSimilarityGrader, embeddings: Embeddings, *, source: str) -> None:
        self._source = source
        self._embeddings = embeddings
        self._input = parse_template(spec.input)
        self._reference = parse_template(spec.reference)

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            text = render(self._input, request, source=self._source)
            reference = render(self._reference, request, source=self._source)
        except Unrenderable as fault:
            return fault.result
        if max(len(text), len(reference)) > MAX_CHARACTERS:
            details = f"a text is longer than {MAX_CHARACTERS} characters"
            return ScoreResult(0.0, GraderErrors(other_error=True, details=details))
        if not text.strip() or not reference.strip():
            return ScoreResult(0.0, reason="a text is blank")
        try:
            left, right = await self._embeddings.embed([text, reference])
        except EmbeddingFault as fault:
            raise self._fault(fault.kind, f"embeddings: {fault.message}") from fault
        cosine = left.cosine(right)
        if cosine is None:
            raise self._fault(FaultKind.BAD_REPLY, "the embeddings have different lengths")
        tokens = left.tokens + right.tokens
        model = self._embeddings.model
        return ScoreResult(
            max(0.0, cosine), token_usage={model: TokenUsage(tokens)} if tokens else {}
        )

    def _fault(self, kind: FaultKind, message: str) -> ScoreFault:
        errors = GraderErrors(other_error=True, details=message)
        kind = FaultKind.BAD_REPLY if kind is FaultKind.TOO_LARGE else kind
        return ScoreFault(kind.value, message, source=self._source, errors=errors)
