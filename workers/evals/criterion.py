"""Scores the samples of an item by one criterion: each by itself, or all of them by a group judge.

Promises: an answer for each sample, in their order; the tokens of a question about the whole group
are counted once, with its first sample. Must not know the other criteria of the eval.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from app.domain.data.dataset import DatasetRow
from app.domain.graders.graders import AnyGrader
from app.domain.graders.kinds.ai_judge import AiJudgeGrader
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.single import RolloutGrader
from app.grading.build import GradingPorts, build_group_multi, build_scorer
from app.grading.group_judge import GroupGradeRequest, GroupJudge
from app.grading.kinds.ai_judge import GroupAiJudge
from app.grading.score_bounds import within_bound
from app.grading.scorer import (
    GradeRequest,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    TokenUsage,
    sum_of_usages,
)


@dataclass(frozen=True, slots=True)
class ScoredSamples:
    answers: Sequence[ScoreResult | ScoreFault]
    usages: Sequence[JudgeUsage]
    """Judge tokens of each sample, those of a failed score included."""


@dataclass(frozen=True, slots=True)
class SingleCriterion:
    """A criterion that looks at one sample at a time."""

    scorer: Scorer

    async def score(self, requests: Sequence[GradeRequest]) -> ScoredSamples:
        answers = await asyncio.gather(*map(self._one, requests))
        return ScoredSamples(answers, [answer.token_usage for answer in answers])

    async def _one(self, request: GradeRequest) -> ScoreResult | ScoreFault:
        try:
            return await self.scorer.score(request)
        except ScoreFault as fault:
            return fault


@dataclass(frozen=True, slots=True)
class GroupedCriterion:
    """A criterion that compares the samples of an item with each other."""

    name: str
    judge: GroupJudge
    parts: frozenset[str]
    """Parts of a `multi` grader that judge groups; `""` for a grader that is one itself."""

    async def score(
        self,
        requests: Sequence[GradeRequest],
        conversations: Sequence[list[dict[str, Any]]],
        row: DatasetRow,
        *,
        trace_id: str,
        call_id: str,
    ) -> ScoredSamples:
        request = GroupGradeRequest(
            conversations=tuple(conversations),
            tools=row.tools,
            item=row.item,
            trace_id=trace_id,
            call_id=call_id,
            rollouts=tuple(requests),
        )
        try:
            judged = await self.judge.judge(request)
        except ScoreFault as fault:
            nothing: JudgeUsage = {}
            others = [nothing] * (len(requests) - 1)
            return ScoredSamples([fault] * len(requests), [fault.token_usage, *others])
        answers = [self._bounded(answer) for answer in judged]
        used = [_used(answer) for answer in answers]
        asked_once = sum_of_usages(
            usage for parts in used for name, usage in parts.items() if name in self.parts
        )
        own = [
            sum_of_usages(usage for name, usage in parts.items() if name not in self.parts)
            for parts in used
        ]
        return ScoredSamples(answers, [sum_of_usages([asked_once, own[0]]), *own[1:]])

    def _bounded(self, answer: ScoreResult | ScoreFault) -> ScoreResult | ScoreFault:
        match answer:
            case ScoreFault():
                return answer
            case ScoreResult():
                try:
                    return within_bound(answer, source=self.name)
                except ScoreFault as fault:
                    return fault
            case _:
                assert_never(answer)


ItemCriterion = SingleCriterion | GroupedCriterion


def build_criterion(spec: AnyGrader, ports: GradingPorts, *, compares: bool) -> ItemCriterion:
    """Builds a criterion from a definition with its real headers. `compares` is false where an item
    has one sample that came with it: then there is nothing to compare, nor a prompt.
    """
    if not compares:
        return _single(spec, ports)
    match spec:
        case AiJudgeGrader():
            judge = GroupAiJudge(spec, ports.judges, source=spec.name)
            return GroupedCriterion(spec.name, judge, frozenset({""}))
        case MultiGrader():
            joined = build_group_multi(spec, ports)
            if joined is None:
                return _single(spec, ports)
            judges = (name for name, part in spec.parts.items() if part.compares_rollouts)
            return GroupedCriterion(spec.name, joined, frozenset(judges))
        case _:
            return _of_one_sample(spec, ports)


def _of_one_sample(spec: RolloutGrader, ports: GradingPorts) -> SingleCriterion:
    return _single(spec, ports)


def _single(spec: AnyGrader, ports: GradingPorts) -> SingleCriterion:
    return SingleCriterion(build_scorer(spec, ports))


def _used(answer: ScoreResult | ScoreFault) -> Mapping[str, Mapping[str, TokenUsage]]:
    """Returns the tokens of a sample's score by the part that used them."""
    match answer:
        case ScoreFault():
            return answer.spent
        case ScoreResult():
            parts = {name: part.token_usage for name, part in answer.children.items()}
            return parts or {"": answer.token_usage}
        case _:
            assert_never(answer)
