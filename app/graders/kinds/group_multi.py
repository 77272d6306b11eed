"""Scores a group by a `multi` grader that has group judges among its children.

A judge without scores removes the group, any other child without a score only its rollout; the
faults have the tokens of all judges. With several judges, the part `agreement` measures their
agreement.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from app.graders.calibration import mean_agreement
from app.graders.definitions import AGREEMENT, MultiGrader
from app.graders.group_judge import GroupGradeRequest
from app.graders.kinds.ai_judge import GroupAiJudge
from app.graders.kinds.multi import MultiScorer, child_call_id
from app.graders.scorer import (
    GradeRequest,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    sum_of_usages,
)
from app.kit.errors import first_fault

_GroupScores = dict[str, Sequence[ScoreResult]]
"""Results of each judge by its name, in the order of the rollouts."""


class GroupMulti:
    """Implements `app.graders.group_judge.GroupJudge`."""

    def __init__(
        self,
        spec: MultiGrader,
        children: Mapping[str, Scorer],
        judges: Mapping[str, GroupAiJudge],
    ) -> None:
        """`children` are the children that score one rollout at a time."""
        self._spec = spec
        self._children = children
        self._judges = judges

    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult | ScoreFault]:
        judged = await self._judged(request)
        agreement = mean_agreement([[one.score for one in each] for each in judged.values()])
        with first_fault():
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._joined(rollout, judged, number))
                    for number, rollout in enumerate(request.rollouts)
                ]
        return [_with_agreement(task.result(), agreement) for task in tasks]

    async def _judged(self, request: GroupGradeRequest) -> _GroupScores:
        async def judge(name: str) -> Sequence[ScoreResult] | ScoreFault:
            own = replace(request, call_id=child_call_id(request.call_id, name))
            try:
                return await self._judges[name].judge(own)
            except ScoreFault as fault:
                fault.child = name
                return fault

        answers = await asyncio.gather(*(judge(name) for name in self._judges))
        judged, fault = _GroupScores(), None
        for name, answer in zip(self._judges, answers, strict=True):
            match answer:
                case ScoreFault():
                    fault = fault or answer
                case Sequence():
                    judged[name] = answer
                case _:
                    assert_never(answer)
        if fault is not None:
            fault.spent = _spent(self._judges, answers)
            raise fault
        return judged

    async def _joined(
        self, rollout: GradeRequest, judged: _GroupScores, number: int
    ) -> ScoreResult | ScoreFault:
        """Returns the formula's result for one rollout, or the fault of a child."""
        given = {name: _KnownScore(results[number]) for name, results in judged.items()}
        children: dict[str, Scorer] = {
            name: given.get(name) or self._children[name] for name in self._spec.parts
        }
        try:
            return await MultiScorer(self._spec, children).score(rollout)
        except ScoreFault as fault:
            return fault


class _KnownScore:
    """Implements `Scorer` with a score that is already known."""

    def __init__(self, result: ScoreResult) -> None:
        self._result = result

    async def score(self, request: GradeRequest) -> ScoreResult:  # noqa: ARG002 - it was scored with its group
        return self._result


def _spent(
    names: Mapping[str, GroupAiJudge], answers: Sequence[Sequence[ScoreResult] | ScoreFault]
) -> dict[str, JudgeUsage]:
    """Returns the tokens of all judges by their names."""
    used = {name: _usage(answer) for name, answer in zip(names, answers, strict=True)}
    return {name: usage for name, usage in used.items() if usage}


def _usage(answer: Sequence[ScoreResult] | ScoreFault) -> JudgeUsage:
    match answer:
        case ScoreFault():
            return answer.token_usage
        case Sequence():
            return sum_of_usages(result.token_usage for result in answer)
        case _:
            assert_never(answer)


def _with_agreement(
    result: ScoreResult | ScoreFault, agreement: float | None
) -> ScoreResult | ScoreFault:
    if agreement is None:
        return result
    match result:
        case ScoreResult():
            return replace(result, sub_scores={AGREEMENT: agreement, **result.sub_scores})
        case ScoreFault():
            return result
        case _:
            assert_never(result)
