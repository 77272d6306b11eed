"""Builds the scorer of a grader definition, by its kind.

A new kind needs a class in `app.domain.graders.graders`, a file in this package and a case below.
"""

import time
from dataclasses import dataclass, replace
from typing import assert_never

from app.domain.graders.graders import (
    EndpointGrader,
    MultiGrader,
    ScoreModelGrader,
    SingleGrader,
    StringCheckGrader,
    TextSimilarityGrader,
)
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.judges import Judges
from app.grading.endpoint import EndpointScorer
from app.grading.multi import MultiScorer
from app.grading.score_model import ScoreModelScorer
from app.grading.scorer import GradeRequest, Scorer, ScoreResult
from app.grading.string_check import StringCheckScorer
from app.grading.text_similarity import TextSimilarityScorer


@dataclass(frozen=True, slots=True)
class GradingPorts:
    """Clients that graders use; all graders of one pool share the limits of its endpoints."""

    endpoints: EndpointPool
    signer: CallSigner
    judges: Judges


class _Timed:
    """Measures the execution time of a scorer that calls no endpoint."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    async def score(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        result = await self._scorer.score(request)
        return replace(result, execution_time_s=time.perf_counter() - started)


def build_scorer(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> Scorer:
    """Builds the scorer of a definition, which must contain its real headers."""
    if isinstance(spec, MultiGrader):
        children = {
            name: _single(child, ports, source=name) for name, child in spec.graders.items()
        }
        return MultiScorer(spec, children)
    return _single(spec, ports, source=spec.name)


def _single(spec: SingleGrader, ports: GradingPorts, *, source: str) -> Scorer:
    match spec:
        case StringCheckGrader():
            return _Timed(StringCheckScorer(spec, source=source))
        case TextSimilarityGrader():
            return _Timed(TextSimilarityScorer(spec, source=source))
        case ScoreModelGrader():
            return ScoreModelScorer(spec, ports.judges, source=source)
        case EndpointGrader():
            return EndpointScorer(spec, ports.endpoints, ports.signer, source=source)
        case _:
            assert_never(spec)
