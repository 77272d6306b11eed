"""Scores the cosine of the embeddings of two texts, 0…1; a negative one scores 0.

Promises: a missing embedding is a fault and never a 0. A blank text scores 0 without a request.
"""

import time
from functools import partial

from app.domain.graders.kinds.text_similarity import TextSimilarityGrader
from app.gateways.endpoints.calls import FaultKind
from app.gateways.inference.embeddings import EmbeddingFault, Embeddings
from app.grading.computing import run_on_scoring_thread
from app.grading.scorer import GradeRequest, ScoreResult, TokenUsage, server_fault
from app.grading.texts.templating import Unrenderable
from app.grading.texts.text_pair import TextPair


class CosineScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: TextSimilarityGrader, embeddings: Embeddings, *, source: str) -> None:
        self._source = source
        self._embeddings = embeddings
        self._pair = TextPair(spec, source=source)

    async def score(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        try:
            text, reference = await run_on_scoring_thread(partial(self._pair.render, request))
        except Unrenderable as fault:
            return fault.result
        if not text.strip() or not reference.strip():
            return ScoreResult(0.0, reason="a text is blank")
        try:
            left, right = await self._embeddings.embed([text, reference])
        except EmbeddingFault as fault:
            message = f"embeddings: {fault.message}"
            raise server_fault(fault.kind, message, source=self._source) from fault
        cosine = left.cosine(right)
        if cosine is None:
            message = "the embeddings have different lengths"
            raise server_fault(FaultKind.BAD_REPLY, message, source=self._source)
        tokens = left.tokens + right.tokens
        model = self._embeddings.model
        return ScoreResult(
            max(0.0, cosine),
            execution_time_s=time.perf_counter() - started,
            token_usage={model: TokenUsage(tokens, calls=1)} if tokens else {},
        )
