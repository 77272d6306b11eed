"""A job's group judge: called once per group for all of its rollouts, with journalled scores.

Owns the conversion of a judge's scores to verdicts. Promises: the verdicts of a group are durable
before they are used, under one key of the group, so a replayed step sees the same ones; a judge
that fails removes the whole group; a score that is out of range or not finite, or a grader that
failed for one rollout, removes only that rollout. Must not know how a judge works.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from pydantic import TypeAdapter

from app.domain.data.dataset import DatasetRow, grader_item
from app.domain.graders.rollout_samples import sample_object
from app.domain.rollouts.trajectory import (
    Failure,
    FailureClass,
    GradeOrFailure,
    Trajectory,
)
from app.grading.group_judge import GroupGradeRequest, GroupJudge
from app.grading.scorer import GradeRequest, ScoreFault, ScoreResult
from workers.grading.failure import GraderFailure
from workers.grading.job_grader import to_failure, to_verdict
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask


@dataclass(frozen=True, slots=True)
class _GroupVerdicts:
    grades: tuple[GradeOrFailure, ...]


_CODEC: Final = TypeAdapter(_GroupVerdicts)


class GroupGrader:
    """Implements `workers.grading.group_scorer.GroupScorer` with a `GroupJudge`."""

    def __init__(self, name: str, judge: GroupJudge) -> None:
        """`name` is the grader's name in the job; failures and journal keys contain it."""
        self._name = name
        self._judge = judge

    async def score_early(
        self,
        trajectory: Trajectory,  # noqa: ARG002 - a judge needs the siblings too
        row: DatasetRow,  # noqa: ARG002 - as above
        *,
        journal: Journal,  # noqa: ARG002 - a judge needs the siblings too
    ) -> None:
        return None

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        if not trajectories:
            return []
        key, item = trajectories[0].key.group, grader_item(row.item)
        request = GroupGradeRequest(
            conversations=tuple(trajectory.messages for trajectory in trajectories),
            tools=row.tools,
            item=item,
            trace_id=key.trace_id,
            call_id=key.grade_id(self._name),
            rollouts=tuple(
                GradeRequest(
                    sample=sample_object(trajectory),
                    item=item,
                    trace_id=trajectory.key.trace_id,
                    call_id=trajectory.key.grade_id(self._name),
                )
                for trajectory in trajectories
            ),
        )

        async def ask() -> _GroupVerdicts:
            return await self._call_judge(request)

        try:
            answer = await replay_or_ask(
                journal, request.call_id, request.encode(), ask, codec=_CODEC
            )
        except GraderFailure as error:
            return [_shared(error.failure, len(trajectories))] * len(trajectories)
        return list(answer.grades)

    async def _call_judge(self, request: GroupGradeRequest) -> _GroupVerdicts:
        try:
            results = await self._judge.judge(request)
        except ScoreFault as fault:
            raise GraderFailure(to_failure(fault, self._name)) from fault
        if len(results) != len(request.conversations):
            message = f"gave {len(results)} scores for {len(request.conversations)} rollouts"
            raise GraderFailure(Failure(FailureClass.GRADER_BAD_REPLY, message, source=self._name))
        return _GroupVerdicts(tuple(self._verdict(result) for result in results))

    def _verdict(self, result: ScoreResult | ScoreFault) -> GradeOrFailure:
        match result:
            case ScoreFault():
                return to_failure(result, self._name)
            case ScoreResult():
                return to_verdict(result, self._name)
            case _:
                assert_never(result)


def _shared(failure: Failure, count: int) -> Failure:
    """Returns the failure of one rollout of a judged group: each rollout carries the error and its
    share of the tokens.
    """
    measures = {
        name: {
            what: number if what.startswith("errors/") else number / count
            for what, number in measured.items()
        }
        for name, measured in failure.measures.items()
    }
    return replace(failure, measures=measures)
