"""Scores the samples of an eval item by every criterion of its eval."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from app.evals.evals import INVOCATIONS, passes_criterion, result_names, token_usage
from app.files.datasets import DatasetRow
from app.graders.scorer import GradeRequest, ScoreFault, ScoreResult, TokenUsage
from app.kit.fields import Json
from app.kit.ids import SampleKey
from app.rollouts.trajectory import Grade, GradeOrFailure, Trajectory
from workers.evals.context import EvalContext, GroupedCriterion, SingleCriterion
from workers.grading.job_grader import to_failure
from workers.journal import Journal

TokensByModel = list[tuple[str, dict[str, int]]]
"""Tokens by the name of the model that used them, and the number of its calls."""


@dataclass(slots=True)
class CriteriaOutcome:
    results: list[Json] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    usage: TokensByModel = field(default_factory=list)


class CriteriaScorer:
    """Implements `workers.grading.group_scorer.GroupScorer` for the samples of one item.

    The verdict is the share of criteria that passed. Nothing is journalled: the items of a group
    are written together, and a later claim repeats the calls with the same ids.
    """

    def __init__(self, context: EvalContext, index: int, samples: Mapping[SampleKey, Json]) -> None:
        """`samples` are those of the item, in the hosted shape that criteria address."""
        self._context = context
        self._index = index
        self._samples = samples
        self.outcomes = {key: CriteriaOutcome() for key in samples}

    async def score_early(
        self,
        trajectory: Trajectory,  # noqa: ARG002 - a judge of groups needs the siblings too
        row: DatasetRow,  # noqa: ARG002 - as above
        *,
        journal: Journal,  # noqa: ARG002 - a judge of groups needs the siblings too
    ) -> None:
        return None

    async def score(
        self,
        trajectories: Sequence[Trajectory],
        row: DatasetRow,
        *,
        journal: Journal,  # noqa: ARG002 - a written item is the journal entry
    ) -> list[GradeOrFailure]:
        criteria = self._context.criteria
        answers = await asyncio.gather(
            *(self._answers(number, trajectories, row) for number in range(len(criteria)))
        )
        return [
            self._verdict(trajectory.key, [of_criterion[at] for of_criterion in answers])
            for at, trajectory in enumerate(trajectories)
        ]

    async def _answers(
        self, number: int, trajectories: Sequence[Trajectory], row: DatasetRow
    ) -> Sequence[ScoreResult | ScoreFault]:
        run_id = self._context.run.id
        requests = [
            GradeRequest(
                sample=self._samples[trajectory.key],
                item=row.item,
                trace_id=f"trace_{self._digest(trajectory.key)[:32]}",
                call_id=f"grade_{self._digest(trajectory.key, number)[:24]}",
            )
            for trajectory in trajectories
        ]
        match self._context.criteria[number]:
            case SingleCriterion() as criterion:
                scored = await criterion.score(requests)
            case GroupedCriterion() as criterion:
                group = trajectories[0].key.group
                scored = await criterion.score(
                    requests,
                    [trajectory.messages for trajectory in trajectories],
                    row,
                    trace_id=group.trace_id,
                    call_id=f"grade_{digest(run_id, 'group', self._index, number)[:24]}",
                )
            case criterion:
                assert_never(criterion)
        for trajectory, used in zip(trajectories, scored.usages, strict=True):
            self.outcomes[trajectory.key].usage += [
                (model, _counted(used)) for model, used in used.items()
            ]
        return scored.answers

    def _digest(self, key: SampleKey, *more: object) -> str:
        position = self._index * self._context.source.samples + key.sample_index
        return digest(self._context.run.id, position, *more)

    def _verdict(
        self, key: SampleKey, answers: Sequence[ScoreResult | ScoreFault]
    ) -> GradeOrFailure:
        names, criteria = result_names(self._context.of), self._context.of.testing_criteria
        outcome = self.outcomes[key]
        for name, criterion, answer in zip(names, criteria, answers, strict=True):
            match answer:
                case ScoreFault():
                    fault = {"code": f"grader_{answer.kind}", "message": answer.details}
                    outcome.faults.append(fault)
                case ScoreResult():
                    outcome.results.append(_result(name, criterion, answer))
                case _:
                    assert_never(answer)
        for name, answer in zip(names, answers, strict=True):
            match answer:
                case ScoreFault():
                    return to_failure(answer, name)
                case ScoreResult():
                    pass
                case _:
                    assert_never(answer)
        passed = sum(result["passed"] for result in outcome.results)
        scores = {result["name"]: result["score"] for result in outcome.results}
        return Grade(passed / len(outcome.results), scores)


def _counted(used: TokenUsage) -> dict[str, int]:
    tokens = token_usage(used.prompt_tokens, used.completion_tokens, used.cached_tokens)
    return {INVOCATIONS: used.calls, **tokens}


def _result(name: str, criterion: Json, answer: ScoreResult) -> Json:
    details: Json = {}
    if answer.sub_scores:
        details["sub_scores"] = answer.sub_scores
    if answer.errors.raised:
        details["errors"] = list(answer.errors.raised)
    if answer.errors.details is not None:
        details["details"] = answer.errors.details
    if answer.reasons:
        details["reasons"] = answer.reasons
    if answer.sampled_model_name is not None:
        details["model"] = answer.sampled_model_name
    return {
        "name": name,
        "type": criterion.get("type"),
        "score": answer.score,
        "passed": passes_criterion(answer.score, criterion),
        "sample": details or None,
    }


def digest(*parts: object) -> str:
    """Returns a digest from which ids and seeds of an item are derived."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()
