"""Scores an eval item by every criterion of its eval.

Owns the result of each criterion and the verdict over all of them. Promises: a criterion that
cannot be scored makes the item an error, never a failed item, and its tokens count; ids of calls
are derived from run, item and criterion, so that a receiver can drop a duplicate. Must not know how
items are sampled.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import assert_never

from app.domain.data.dataset import DatasetRow
from app.domain.documents.json_object import Json
from app.domain.evals.evals import passes, result_names, token_usage
from app.domain.rollouts.trajectory import Grade, GradeOrFailure, Trajectory
from app.grading.scorer import GradeRequest, ScoreFault, ScoreResult
from workers.evals.context import EvalContext
from workers.grading.job_grader import to_failure
from workers.journal.journal import Journal

TokensByModel = list[tuple[str, dict[str, int]]]
"""Tokens by the name of the model that used them."""


class CriteriaScorer:
    """Implements `workers.grading.group_scorer.GroupScorer` for one item, a group of one.

    The verdict is the share of criteria that passed. Nothing is journalled: an item is written in
    one row, and a later claim repeats the calls with the same ids.
    """

    def __init__(self, context: EvalContext, index: int, sample: Json) -> None:
        """`sample` is the item's sample in the hosted shape that criteria address."""
        self._context = context
        self._index = index
        self._sample = sample
        self.results: list[Json] = []
        """Output of each criterion that gave a score."""
        self.faults: list[Json] = []
        """Errors of the other criteria."""
        self.usage: TokensByModel = []

    async def score_early(
        self,
        trajectory: Trajectory,  # noqa: ARG002 - criteria read the hosted sample
        row: DatasetRow,
        *,
        journal: Journal,  # noqa: ARG002 - a written item is the journal entry
    ) -> GradeOrFailure:
        scorers = self._context.scorers
        answers = await asyncio.gather(
            *(self._score_criterion(number, row) for number in range(len(scorers)))
        )
        names, criteria = result_names(self._context.of), self._context.of.testing_criteria
        for name, criterion, answer in zip(names, criteria, answers, strict=True):
            self._add(name, criterion, answer)
        for name, answer in zip(names, answers, strict=True):
            match answer:
                case ScoreFault():
                    return to_failure(answer, name)
                case ScoreResult():
                    pass
                case _:
                    assert_never(answer)
        passed = sum(result["passed"] for result in self.results)
        scores = {result["name"]: result["score"] for result in self.results}
        return Grade(passed / len(self.results), scores)

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        (trajectory,) = trajectories
        return [await self.score_early(trajectory, row, journal=journal)]

    async def _score_criterion(self, number: int, row: DatasetRow) -> ScoreResult | ScoreFault:
        run_id = self._context.run.id
        request = GradeRequest(
            sample=self._sample,
            item=row.item,
            trace_id=f"trace_{digest(run_id, self._index)[:32]}",
            call_id=f"grade_{digest(run_id, self._index, number)[:24]}",
        )
        try:
            return await self._context.scorers[number].score(request)
        except ScoreFault as fault:
            return fault

    def _add(self, name: str, criterion: Json, answer: ScoreResult | ScoreFault) -> None:
        match answer:
            case ScoreFault():
                self.faults.append({"code": f"grader_{answer.kind}", "message": answer.details})
            case ScoreResult():
                self.results.append(_result(name, criterion, answer))
            case _:
                assert_never(answer)
        self.usage += [
            (model, token_usage(used.prompt_tokens, used.completion_tokens, used.cached_tokens))
            for model, used in answer.token_usage.items()
        ]


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
        "passed": passes(answer.score, criterion),
        "sample": details or None,
    }


def digest(*parts: object) -> str:
    """Returns a digest from which ids and seeds of an item are derived."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()
