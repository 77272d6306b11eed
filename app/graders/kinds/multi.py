"""Runs several graders at once and computes the formula over their scores."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Final

from app.graders.definitions import MultiGrader
from app.graders.formula import FormulaError, parse_formula
from app.graders.scorer import (
    BAD_SCORE,
    GradeRequest,
    GraderErrors,
    ScoreFault,
    Scorer,
    ScoreResult,
    sum_of_usages,
)
from app.kit.errors import first_fault

CONCURRENT_CHILDREN: Final = 16


class MultiScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: MultiGrader, children: Mapping[str, Scorer]) -> None:
        self._formula = parse_formula(spec.calculate_output)
        self._invalid_grade = spec.invalid_grade
        self._name = spec.name
        self._children = {name: children[name] for name in spec.parts}

    async def score(self, request: GradeRequest) -> ScoreResult:
        children = await self._score_children(request)
        scores = {name: child.score for name, child in children.items()}
        errors = reduce(GraderErrors.joined, (c.errors for c in children.values()), GraderErrors())
        try:
            score = self._formula.evaluate(scores)
        except FormulaError as error:
            errors = GraderErrors(formula_parse_error=True, details=str(error)).joined(errors)
            if self._invalid_grade is None:
                raise self._no_value(str(error), errors, children) from None
            score = self._invalid_grade
        models = [c.sampled_model_name for c in children.values() if c.sampled_model_name]
        return ScoreResult(
            score,
            errors,
            sub_scores=scores,
            token_usage=sum_of_usages(child.token_usage for child in children.values()),
            sampled_model_name=models[0] if len(models) == 1 else None,
            children=children,
            execution_time_s=max(
                (each.execution_time_s for each in children.values()), default=0.0
            ),
        )

    def _no_value(
        self, message: str, errors: GraderErrors, children: Mapping[str, ScoreResult]
    ) -> ScoreFault:
        text = f"the formula has no value: {message}"
        fault = ScoreFault(BAD_SCORE, text, source=self._name, errors=errors)
        _charge(fault, children)
        return fault

    async def _score_children(self, request: GradeRequest) -> dict[str, ScoreResult]:
        slots = asyncio.Semaphore(CONCURRENT_CHILDREN)
        answers: dict[str, ScoreResult | ScoreFault] = {}

        async def score_child(name: str, scorer: Scorer) -> ScoreResult:
            async with slots:
                try:
                    answers[name] = result = await scorer.score(child_request(request, name))
                except ScoreFault as fault:
                    fault.child, answers[name] = name, fault
                    raise
                return result

        try:
            with first_fault():
                async with asyncio.TaskGroup() as group:
                    tasks = {
                        name: group.create_task(score_child(name, scorer))
                        for name, scorer in self._children.items()
                    }
        except ScoreFault as fault:
            _charge(fault, answers)
            raise
        return {name: task.result() for name, task in tasks.items()}


def _charge(fault: ScoreFault, answers: Mapping[str, ScoreResult | ScoreFault]) -> None:
    """Adds to the fault the tokens of all children that answered."""
    spent = {name: answer.token_usage for name, answer in answers.items() if answer.token_usage}
    models = [answer.sampled_model_name for answer in answers.values() if answer.sampled_model_name]
    fault.spent = dict(spent)
    fault.sampled_model_name = models[0] if len(models) == 1 else None


def child_request(request: GradeRequest, name: str) -> GradeRequest:
    """Returns a child's request with its own call id, because two children may share an address."""
    return replace(request, call_id=child_call_id(request.call_id, name))


def child_call_id(call_id: str, name: str) -> str:
    digest = hashlib.sha256(f"{call_id}\x1f{name}".encode()).hexdigest()
    return f"grade_{digest[:24]}"
