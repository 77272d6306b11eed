"""A job's per-sample grader: applies the shared scorer to trajectories and journals its scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from pydantic import TypeAdapter

from app.files.datasets import DatasetRow, grader_item
from app.graders.definitions import AnyGrader
from app.graders.kinds.ai_judge import GroupGradeRequest, GroupJudge
from app.graders.kinds.remote import encode
from app.graders.samples import sample_object
from app.graders.scorer import (
    BAD_SCORE,
    ITEM_MISSING,
    ITEM_UNREADABLE,
    NO_REWARD,
    GradeRequest,
    GradingPorts,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    TokenUsage,
    build_scorer,
    is_usable,
    within_bound,
)
from app.kit.endpoints import FaultKind
from app.kit.errors import FORMULA_ERROR, MODEL_ERROR, PYTHON_ERROR, SANDBOX_ERROR, together
from app.kit.fields import FieldKind, walk_fields
from app.kit.ids import SampleKey
from app.kit.telemetry import SPANS
from app.rollouts.metrics import ANSWER_FLAGS
from app.rollouts.trajectory import Failure, FailureClass, Grade, GradeOrFailure, Trajectory
from workers.journal import Journal, replay_or_ask


class SampleGrader(Protocol):
    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        """Returns a finite score, journalled if external. Raises `GraderFailure`."""
        ...


class GroupScorer(Protocol):
    async def score_early(
        self, trajectory: Trajectory, row: DatasetRow, *, journal: Journal
    ) -> GradeOrFailure | None:
        """Scores a rollout that ended while its siblings may run; `None` defers it to `score`."""
        ...

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        """Scores finished rollouts of one group; verdicts in the order of `trajectories`."""
        ...


class PerSampleScorer:
    def __init__(self, grader: SampleGrader) -> None:
        self._grader = grader

    async def score_early(
        self, trajectory: Trajectory, row: DatasetRow, *, journal: Journal
    ) -> GradeOrFailure:
        try:
            return await self._grader.grade(trajectory, row, trajectory.key, journal=journal)
        except GraderFailure as error:
            return error.failure

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        return await together(
            self.score_early(trajectory, row, journal=journal) for trajectory in trajectories
        )


class GraderFailure(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure


_CODEC: Final = TypeAdapter(Grade)
CAUSE_FLAGS: Final = (*ANSWER_FLAGS, PYTHON_ERROR, SANDBOX_ERROR, MODEL_ERROR, FORMULA_ERROR)
"""Flags of a lost rollout whose cause the user can correct; the job's error says how."""
_OWN_CLASSES: Final = {
    ITEM_MISSING: FailureClass.GRADER_ITEM_MISSING,
    ITEM_UNREADABLE: FailureClass.GRADER_ITEM_UNREADABLE,
    BAD_SCORE: FailureClass.GRADER_BAD_SCORE,
    NO_REWARD: FailureClass.ENVIRONMENT_BAD_REPLY,
}


class JobGrader:
    def __init__(self, name: str, scorer: Scorer, *, journalled: bool) -> None:
        """`journalled` is false for a deterministic scorer."""
        self._name = name
        self._scorer = scorer
        self._journalled = journalled

    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        request = GradeRequest(
            sample=sample_object(trajectory),
            item=grader_item(row.item),
            trace_id=key.trace_id,
            call_id=key.grade_id(self._name),
        )

        async def ask() -> Grade:
            return await self._grade(request)

        with SPANS.labelled(self._name):
            if not self._journalled:
                return await ask()
            return await replay_or_ask(journal, request.call_id, encode(request), ask, codec=_CODEC)

    async def _grade(self, request: GradeRequest) -> Grade:
        try:
            verdict = to_verdict(await self._scorer.score(request), self._name)
        except ScoreFault as fault:
            raise GraderFailure(to_failure(fault, self._name)) from fault
        if isinstance(verdict, Failure):
            raise GraderFailure(verdict)
        return verdict


def to_failure(fault: ScoreFault, grader: str) -> Failure:
    return Failure(
        _OWN_CLASSES.get(fault.kind) or FailureClass.of_fault(FaultKind(fault.kind), "grader"),
        fault.message,
        source=grader if fault.child is None else f"{grader}.{fault.child}",
        child=fault.child,
        measures=_measures_of(fault),
        details=fault.errors.details,
    )


def _measures_of(fault: ScoreFault) -> dict[str, dict[str, float]]:
    """The tokens of all judges that answered, and the error flags of the grader without a score."""
    measures = {name: _tokens(usage) for name, usage in fault.spent.items() if usage}
    flags = {f"errors/{flag}": 1.0 for flag in fault.errors.raised if flag in CAUSE_FLAGS}
    if flags:
        name = fault.child or ""
        measures[name] = {**measures.get(name, {}), **flags}
    return measures


def to_verdict(result: ScoreResult, grader: str) -> GradeOrFailure:
    try:
        return _to_grade(within_bound(result, source=grader))
    except ScoreFault as fault:
        return to_failure(fault, grader)


def _to_grade(result: ScoreResult) -> Grade:
    """Components are the children's scores and metrics; too large numbers are left out."""
    inner = {
        f"{name}.{part}": value
        for name, child in result.children.items()
        for part, value in child.sub_scores.items()
    }
    # A multi grader repeats its children's flags; each flag is counted once, for the child.
    own = set(result.errors.raised)
    for child in result.children.values():
        own -= set(child.errors.raised)
    named = {**result.sub_scores, **inner}
    flagged = {name: child.errors for name, child in result.children.items() if child.errors.raised}
    if own:
        flagged[""] = result.errors
    return Grade(
        result.score,
        {name: value for name, value in named.items() if is_usable(value)},
        _latency_s(result),
        {
            "": _measures(result, tuple(own), with_tokens=not result.children),
            **{
                name: _measures(child, child.errors.raised, with_tokens=True)
                for name, child in result.children.items()
            },
        },
        {name: errors.details for name, errors in flagged.items() if errors.details is not None},
        result.reasons,
    )


def _latency_s(result: ScoreResult) -> float:
    return result.execution_time_s if math.isfinite(result.execution_time_s) else 0.0


def _measures(
    result: ScoreResult, flags: tuple[str, ...], *, with_tokens: bool
) -> dict[str, float]:
    measures = {"latency_s": _latency_s(result)}
    measures.update({f"errors/{flag}": 1.0 for flag in sorted(flags)})
    return measures | (_tokens(result.token_usage) if with_tokens else {})


def _tokens(usage: JudgeUsage) -> dict[str, float]:
    total = sum(usage.values(), TokenUsage())
    tokens = {
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "cached_tokens": total.cached_tokens,
        "judge_calls": total.calls,
    }
    return {what: float(number) for what, number in tokens.items()} if usage else {}


@dataclass(frozen=True, slots=True)
class _GroupVerdicts:
    grades: tuple[GradeOrFailure, ...]


_GROUP_CODEC: Final = TypeAdapter(_GroupVerdicts)


class GroupGrader:
    def __init__(self, name: str, judge: GroupJudge) -> None:
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
                journal, request.call_id, request.encode(), ask, codec=_GROUP_CODEC
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
        if isinstance(result, ScoreFault):
            return to_failure(result, self._name)
        return to_verdict(result, self._name)


def _shared(failure: Failure, count: int) -> Failure:
    """Each rollout of a judged group carries the error and its share of the tokens."""
    measures = {
        name: {
            what: number if what.startswith("errors/") else number / count
            for what, number in measured.items()
        }
        for name, measured in failure.measures.items()
    }
    return replace(failure, measures=measures)


_CALL_FIELDS: Final = (FieldKind.ADDRESS, FieldKind.JUDGE, FieldKind.EMBEDDING)


def build_group_scorer(spec: AnyGrader, ports: GradingPorts) -> GroupScorer:
    judge = spec.group_judge(ports, source=spec.name)
    return (
        PerSampleScorer(build_grader(spec, ports))
        if judge is None
        else GroupGrader(spec.name, judge)
    )


def build_grader(spec: AnyGrader, ports: GradingPorts) -> SampleGrader:
    is_external = any(field.kind in _CALL_FIELDS for field in walk_fields(type(spec), spec))
    journalled = is_external or not spec.repeats_its_scores
    return JobGrader(spec.name, build_scorer(spec, ports), journalled=journalled)
