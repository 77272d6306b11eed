"""A job's grader: the shared scorer, asked about trajectories and remembered.

Owns the way from a score to a `Grade` and from a fault to the class of failure that costs the
rollout. Promises: a score that came from outside is durable before it is used, so a replayed step
sees the same one. Must not know how anything is scored.
"""

from dataclasses import asdict
from typing import Any, Final

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Failure, FailureClass, Grade, Trajectory
from app.gateways.endpoints.pool import FaultKind
from app.grading.endpoint import encode
from app.grading.scorer import GradeRequest, ScoreFault, Scorer, ScoreResult
from workers.grading.failure import GraderFailure
from workers.grading.grader_samples import item_object, sample_object
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask

LARGEST_SCORE: Final = 1e9
"""Either way. Of greater ones a gradient in fp32 is no number, and every step would be skipped."""
_CLASSES: Final = {
    FaultKind.ERROR: FailureClass.GRADER_ERROR,
    FaultKind.TIMEOUT: FailureClass.GRADER_TIMEOUT,
    FaultKind.UNREACHABLE: FailureClass.GRADER_UNREACHABLE,
    FaultKind.BAD_REPLY: FailureClass.GRADER_BAD_REPLY,
    FaultKind.REFUSED: FailureClass.ENDPOINT_REFUSED,
}


class JobGrader:
    """Implements `workers.grading.registry.Grader`."""

    def __init__(self, name: str, scorer: Scorer, *, asks_outside: bool) -> None:
        """A scorer that asks nobody gives the same score again and need not be remembered."""
        self._name = name
        self._scorer = scorer
        self._asks_outside = asks_outside

    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        request = GradeRequest(
            sample=sample_object(trajectory),
            item=item_object(row),
            trace_id=key.trace_id,
            call_id=key.grade_id(self._name),
        )

        async def ask() -> dict[str, Any]:
            return asdict(await self._ask(request))

        if not self._asks_outside:
            return await self._ask(request)
        return Grade(**await replay_or_ask(journal, request.call_id, encode(request), ask))

    async def _ask(self, request: GradeRequest) -> Grade:
        try:
            grade = to_grade(await self._scorer.score(request))
        except ScoreFault as fault:
            failure = Failure(
                _CLASSES[FaultKind(fault.kind)],
                fault.message,
                source=self._name if fault.child is None else f"{self._name}.{fault.child}",
                child=fault.child,
            )
            raise GraderFailure(failure) from fault
        if abs(grade.score) > LARGEST_SCORE:
            message = f"the score {grade.score:g} is beyond ±{LARGEST_SCORE:g}"
            raise GraderFailure(Failure(FailureClass.GRADER_BAD_REPLY, message, source=self._name))
        return grade


def to_grade(result: ScoreResult) -> Grade:
    """Children's scores are components; so are their own named numbers, as `child.number`. One that
    is too large for a mean has no curve.
    """
    inner = {
        f"{name}.{part}": value
        for name, child in result.children.items()
        for part, value in child.sub_scores.items()
    }
    # A multi grader's flags hold its children's, which are counted where they belong.
    own = set(result.errors.raised)
    for child in result.children.values():
        own -= set(child.errors.raised)
    named = {**result.sub_scores, **inner}
    return Grade(
        result.score,
        {name: value for name, value in named.items() if abs(value) <= LARGEST_SCORE},
        result.execution_time_s,
        {
            "": _measures(result, tuple(own), with_tokens=not result.children),
            **{
                name: _measures(child, child.errors.raised, with_tokens=True)
                for name, child in result.children.items()
            },
        },
    )


def _measures(
    result: ScoreResult, flags: tuple[str, ...], *, with_tokens: bool
) -> dict[str, float]:
    measures = {"latency_s": result.execution_time_s}
    measures.update({f"errors/{flag}": 1.0 for flag in sorted(flags)})
    for usage in result.token_usage.values() if with_tokens else ():
        measures["prompt_tokens"] = float(usage.prompt_tokens)
        measures["completion_tokens"] = float(usage.completion_tokens)
        measures["cached_tokens"] = float(usage.cached_tokens)
    return measures
