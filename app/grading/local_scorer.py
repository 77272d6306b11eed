"""The base of graders that compute a score from the request and call nothing.

Owns the thread: such a grader is a plain function, and only a scoring thread runs it. A long text,
or many graders of one request, therefore never hold up the event loop. Must not know how anything
is scored.
"""

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import final

from app.grading.computing import run_on_scoring_thread
from app.grading.scorer import GradeRequest, ScoreResult
from app.grading.texts.templating import Unrenderable


class LocalScorer(ABC):
    """Implements `Scorer`."""

    @final
    async def score(self, request: GradeRequest) -> ScoreResult:
        return await run_on_scoring_thread(partial(self._timed, request))

    def _timed(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        try:
            result = self.grade(request)
        except Unrenderable as fault:
            result = fault.result
        return replace(result, execution_time_s=time.perf_counter() - started)

    @abstractmethod
    def grade(self, request: GradeRequest) -> ScoreResult:
        """Returns the score of one sample. Raises `Unrenderable` or `ScoreFault`."""
