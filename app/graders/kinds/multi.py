"""Runs several graders at once and computes the formula over their scores."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.calibration import mean_agreement
from app.graders.formula import FormulaError, parse_formula
from app.graders.grader_model import GraderModel, fault_at
from app.graders.group_judge import GroupGradeRequest, GroupJudge
from app.graders.kinds import ChildGrader, SingleGrader
from app.graders.kinds.ai_judge import AiJudgeGrader, GroupAiJudge
from app.graders.scorer import (
    BAD_SCORE,
    LARGEST_SCORE,
    GradeRequest,
    GraderErrors,
    GradingPorts,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    sum_of_usages,
)
from app.kit.errors import first_fault
from app.kit.texts import FORMULA_NAME

MAX_CHILDREN: Final = 64
AGREEMENT: Final = "agreement"
"""Name of the part with the agreement of several group judges."""
ChildName = Annotated[str, Field(pattern=f"^{FORMULA_NAME}$")]


class MultiGrader(GraderModel):
    """Several graders and the formula that combines their scores. Not nestable."""

    type: Literal["multi"]
    name: str = Field(default="multi", min_length=1, max_length=256)
    graders: dict[ChildName, ChildGrader] = Field(min_length=1, max_length=MAX_CHILDREN)
    """The parts by name."""
    calculate_output: str
    """Formula of the reward over the names of the parts, such as `0.5 * exact + judge`."""
    invalid_grade: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """The score when the formula has no finite value; without it the rollout leaves the batch."""

    @field_validator("graders", mode="before")
    @classmethod
    def _is_a_map(cls, sent: Any) -> Any:
        if isinstance(sent, list) or (isinstance(sent, dict) and isinstance(sent.get("type"), str)):
            raise PydanticCustomError(
                "graders_map",
                'it must be a map of name to grader, such as {"accuracy": {…}}; '
                "'calculate_output' uses the names",
            )
        return sent

    @field_validator("calculate_output")
    @classmethod
    def _is_a_formula(cls, text: str) -> str:
        try:
            parse_formula(text)
        except FormulaError as error:
            raise PydanticCustomError("formula_error", "{fault}", {"fault": str(error)}) from None
        return text

    @property
    @override
    def parts(self) -> Mapping[str, SingleGrader]:
        """The graders that the formula names; only these are run."""
        unused = self.unused_parts
        return {name: child for name, child in self.graders.items() if name not in unused}

    @property
    @override
    def unused_parts(self) -> tuple[str, ...]:
        used = parse_formula(self.calculate_output).names
        return tuple(name for name in self.graders if name not in used)

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return all(child.repeats_its_scores for child in self.parts.values())

    @model_validator(mode="after")
    def _no_part_takes_the_name_of_the_agreement(self) -> "MultiGrader":
        """Refuses a part whose name is reserved for the agreement of several judges."""
        judges = sum(child.compares_rollouts for child in self.graders.values())
        if judges > 1 and AGREEMENT in self.graders:
            taken = (
                f"'{AGREEMENT}' is the part that several 'ai_judge' graders add: give this one "
                "another name"
            )
            raise fault_at("graders", taken)
        return self

    @model_validator(mode="after")
    def _the_formula_has_a_value(self) -> "MultiGrader":
        unknown = sorted(parse_formula(self.calculate_output).names - self.graders.keys())
        if unknown:
            known = f"'{unknown[0]}' is not one of the graders: {', '.join(self.graders)}"
            raise fault_at("calculate_output", known)
        never = parse_formula(self.calculate_output).fault()
        if never is not None:
            raise fault_at("calculate_output", f"the formula never has a value ({never})")
        return self

    @field_validator("invalid_grade")
    @classmethod
    def _is_a_usable_score(cls, score: float | None) -> float | None:
        if score is not None and not abs(score) <= LARGEST_SCORE:
            limit = f"a score must be between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}"
            raise PydanticCustomError("grader_error", "{fault}", {"fault": limit})
        return score

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        del source
        parts = self.parts.items()
        return MultiScorer(self, {name: one.scorer(ports, source=name) for name, one in parts})

    @override
    def group_judge(self, ports: GradingPorts, *, source: str) -> GroupJudge | None:
        del source
        judges, others = dict[str, GroupAiJudge](), dict[str, Scorer]()
        for name, part in self.parts.items():
            if isinstance(part, AiJudgeGrader):
                judges[name] = part.group_judge(ports, source=name)
            else:
                others[name] = part.scorer(ports, source=name)
        return GroupMulti(self, others, judges) if judges else None


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


_GroupScores = dict[str, Sequence[ScoreResult]]
"""Results of each judge by its name, in the order of the rollouts."""


class GroupMulti:
    """Implements `GroupJudge`: a judge without scores removes the group, any other part without a
    score only its rollout. The faults have the tokens of all judges.
    """

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
        judged, faults, spent = _GroupScores(), dict[str, ScoreFault](), dict[str, JudgeUsage]()

        async def ask(name: str, judge: GroupAiJudge) -> None:
            own = replace(request, call_id=child_call_id(request.call_id, name))
            try:
                judged[name] = results = await judge.judge(own)
            except ScoreFault as fault:
                fault.child, faults[name], spent[name] = name, fault, fault.token_usage
            else:
                spent[name] = sum_of_usages(result.token_usage for result in results)

        await asyncio.gather(*(ask(*each) for each in self._judges.items()))
        first = next((faults[name] for name in self._judges if name in faults), None)
        if first is not None:
            first.spent = {name: spent[name] for name in self._judges if spent[name]}
            raise first
        return {name: judged[name] for name in self._judges}

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


def _with_agreement(
    result: ScoreResult | ScoreFault, agreement: float | None
) -> ScoreResult | ScoreFault:
    if agreement is None or isinstance(result, ScoreFault):
        return result
    return replace(result, sub_scores={AGREEMENT: agreement, **result.sub_scores})
