"""Evals, their runs and output items as domain values. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean
from typing import Any, Final, Literal, NotRequired, TypedDict
from uuid import NAMESPACE_URL, uuid5

from app.evals.data_sources import AttachedSource
from app.graders.definitions import AnyGrader, passing_score
from app.jobs.jobs import AttachedEval, Job
from app.kit.errors import NoEffect, NotFound
from app.kit.faults import UnreadKey
from app.kit.ids import new_id
from app.rollouts.rollouts import (
    Baseline,
    BaselineRow,
    RolloutRow,
    key_of,
    last_turn,
    prompt_messages,
    trace_of,
)

_JOB_PREFIX: Final = "ftjob-"
_RUN_PREFIX: Final = "evalrun_"
EvalCriterion = AnyGrader


class EvalRunStatus(StrEnum):
    """State of an eval run; the last three are final."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"


ALL_ITEMS_ERRORED: Final = "all_items_errored"
INVOCATIONS: Final = "invocation_count"
OPEN_RUNS: Final = (EvalRunStatus.QUEUED, EvalRunStatus.IN_PROGRESS)
EvalOrder = Literal["created_at", "updated_at"]
ItemStatus = Literal["pass", "fail", "error"]
"""`error`: there is no sample or no score, so the item neither passed nor failed."""


class RunPage(TypedDict):
    status: EvalRunStatus | None
    after: str | None
    limit: int
    descending: bool


class ItemPage(TypedDict):
    """A page of a run's output items; `index` selects the samples of one item."""

    status: ItemStatus | None
    after: str | None
    limit: int
    descending: bool
    index: NotRequired[int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eval:
    id: str
    job_id: str | None = None
    name: str
    data_source_config: dict[str, Any]
    testing_criteria: list[dict[str, Any]]
    """Grader configurations, header values redacted."""
    metadata: dict[str, str] | None = None
    created_at: int = 0
    updated_at: int = 0
    unread: tuple[UnreadKey, ...] = ()
    """Unknown keys of criteria that were just sent, which are dropped."""
    unused: tuple[NoEffect, ...] = ()
    """Criteria that were just sent and depend on no sample."""


@dataclass(frozen=True, slots=True)
class NewEval:
    name: str | None
    item_schema: dict[str, Any]
    include_sample_schema: bool
    criteria: tuple[EvalCriterion, ...]
    metadata: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class ResultCounts:
    total: int = 0
    errored: int = 0
    failed: int = 0
    passed: int = 0


def nothing_scored(total: int, why: str | None) -> str:
    shown = "" if why is None else f" The first one: {why}"
    return f"Nothing could be scored: each of {total} output items is an error.{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    id: str
    eval_id: str
    name: str
    status: EvalRunStatus
    model: str | None
    data_source: dict[str, Any]
    metadata: dict[str, str] | None = None
    error: dict[str, Any] | None = None
    counts: ResultCounts = ResultCounts()
    criteria: list[dict[str, Any]] = field(default_factory=list)
    """`[{testing_criteria, passed, failed}]`."""
    usage: list[dict[str, Any]] = field(default_factory=list)
    """`[{model_name, invocation_count, prompt_tokens, completion_tokens, cached_tokens, …}]`."""
    created_at: int = 0

    @property
    def samples_per_item(self) -> int:
        return int(self.data_source.get("samples_per_item", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputItem:
    id: str
    eval_id: str
    run_id: str
    index: int
    """`datasource_item_id`: position in the data source, from 0."""
    sample_index: int = 0
    status: ItemStatus
    datasource_item: dict[str, Any]
    results: list[dict[str, Any]]
    sample: dict[str, Any]
    created_at: int = 0


def eval_id_of(job_id: str) -> str:
    """Returns the eval of a job: a pure function of the job's id, so no column holds it."""
    return f"eval_{job_id.removeprefix(_JOB_PREFIX)}"


def eval_of_job(job_id: str, grader: dict[str, Any]) -> Eval:
    return Eval(
        id=eval_id_of(job_id),
        job_id=job_id,
        name=f"Reinforcement Fine Tuning validation runs for {job_id}",
        data_source_config=custom_config({"type": "object"}, include_sample=True),
        testing_criteria=[grader],
    )


def custom_config(item_schema: dict[str, Any], *, include_sample: bool) -> dict[str, Any]:
    """Returns a custom data source as the hosted API shows it: one schema over item and sample."""
    properties: dict[str, Any] = {"item": item_schema}
    if include_sample:
        properties["sample"] = {"type": "object"}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "custom", "schema": schema}


def validation_run_id(job_id: str, step: int) -> str:
    return f"{_RUN_PREFIX}{job_id.removeprefix(_JOB_PREFIX)}_{step}"


def step_of(run_id: str, job_id: str) -> int | None:
    start, _, step = run_id.rpartition("_")
    if f"{start}_" != validation_run_id(job_id, 0)[:-1] or not step.isdecimal() or len(step) > 9:  # noqa: PLR2004 - an int of the database
        return None
    return int(step) if str(int(step)) == step else None


def threshold(criterion: dict[str, Any]) -> float | None:
    own = criterion.get("pass_threshold")
    if isinstance(own, int | float) and not isinstance(own, bool):
        return float(own)
    return passing_score(str(criterion.get("type")))


def passes_criterion(score: float, criterion: dict[str, Any]) -> bool:
    least = threshold(criterion)
    return score > 0 if least is None else score >= least


def criterion_name(criterion: dict[str, Any]) -> str:
    return str(criterion.get("name") or criterion.get("type"))


def result_names(of: Eval) -> list[str]:
    """Returns `<grader>-<uuid>` per criterion: equal in every run, unique among equal names."""
    return [
        f"{criterion_name(criterion)}-{uuid5(NAMESPACE_URL, f'{of.id}/{number}')}"
        for number, criterion in enumerate(of.testing_criteria)
    ]


def token_usage(prompt: int, completion: int, cached: int = 0) -> dict[str, int]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": cached,
        "total_tokens": prompt + completion,
    }


class Tally:
    def __init__(self, criteria: Iterable[str]) -> None:
        self._total: dict[ItemStatus, int] = {"pass": 0, "fail": 0, "error": 0}
        self._criteria = {name: [0, 0] for name in criteria}
        self._usage: dict[str, dict[str, int]] = {}

    def add(
        self,
        status: ItemStatus,
        results: list[dict[str, Any]],
        usage: list[tuple[str, dict[str, int]]],
    ) -> None:
        self._total[status] += 1
        for result in results:
            self._criteria[result["name"]][0 if result["passed"] else 1] += 1
        for model, tokens in usage:
            known = self._usage.setdefault(model, {INVOCATIONS: 0, **token_usage(0, 0)})
            for name, number in ({INVOCATIONS: 1} | tokens).items():
                known[name] += number

    @property
    def counts(self) -> ResultCounts:
        passed, failed, errored = (self._total[key] for key in ("pass", "fail", "error"))
        return ResultCounts(passed + failed + errored, errored, failed, passed)

    @property
    def criteria(self) -> list[dict[str, Any]]:
        return [
            {"testing_criteria": name, "passed": passed, "failed": failed}
            for name, (passed, failed) in self._criteria.items()
        ]

    @property
    def usage(self) -> list[dict[str, Any]]:
        return [{"model_name": model, **numbers} for model, numbers in self._usage.items()]


def no_eval(eval_id: str) -> NotFound:
    return NotFound(f"Could not find eval: {eval_id}", param="eval_id")


def no_run(run_id: str) -> NotFound:
    return NotFound(f"Could not find eval run: {run_id}", param="run_id")


def no_item(item_id: str) -> NotFound:
    return NotFound(f"Could not find output item: {item_id}", param="output_item_id")


@dataclass(frozen=True, slots=True)
class SampleScore:
    index: int
    status: ItemStatus
    scores: Sequence[float]


def run_baseline(samples: Iterable[SampleScore]) -> Baseline:
    """The reward of a sample is the mean of its criteria's scores; it passes where all do."""
    by_item: dict[int, list[SampleScore]] = {}
    for sample in samples:
        by_item.setdefault(sample.index, []).append(sample)
    rows = list[BaselineRow]()
    for index, taken in by_item.items():
        graded = [one for one in taken if one.status != "error" and one.scores]
        if graded:
            rewards = [fmean(one.scores) for one in graded]
            passed = sum(one.status == "pass" for one in graded)
            lost = len(taken) - len(graded)
            rows.append(BaselineRow.of(index, rewards, passed=passed, lost=lost))
    return Baseline.of(rows, all_lost=len(by_item) - len(rows))


def file_of(attached: AttachedEval) -> str:
    return AttachedSource.model_validate(attached.data_source).source.id


def attached_run(
    attached: AttachedEval, job_id: str, *, model: str, side: Literal["start", "tuned"]
) -> EvalRun:
    """A release that refuses the data source fails the run, not the job whose end starts it."""
    return EvalRun(
        id=new_id("evalrun_"),
        eval_id=attached.eval_id,
        name=f"{job_id}: {side}",
        status=EvalRunStatus.QUEUED,
        model=model,
        data_source={**attached.data_source, "model": model},
        metadata={"job_id": job_id, "model": side},
    )


_ITEM_PREFIX: Final = "outputitem_"
_ROLLOUT_PREFIX: Final = "rollout_"
_TOP_P: Final = 1.0
"""`top_p` of all rollouts: the engine samples from the whole distribution."""


@dataclass(frozen=True, slots=True)
class ValidationCounts:
    step: int
    total: int
    passed: int
    errored: int
    prompt_tokens: int
    completion_tokens: int
    finished_at: float
    checkpoint: str | None
    """The model that was validated; `None` for the base."""
    fault: str | None
    """Failure of the first lost rollout in the order of the rows; `None` if none was lost."""

    @property
    def status(self) -> EvalRunStatus:
        scored = self.errored < self.total
        return EvalRunStatus.COMPLETED if scored else EvalRunStatus.FAILED


@dataclass(frozen=True, slots=True)
class ValidationItems:
    of: Eval
    job: Job
    validation: ValidationCounts

    def item(
        self, rollout: RolloutRow, row: dict[str, Any] | None, *, turn_limit: int | None
    ) -> OutputItem:
        """`row` is `None` once its file was deleted; its messages are in the trace."""
        sampling = self._sampling(rollout, turn_limit)
        trace = trace_of(rollout, model=_model(self.job, self.validation), model_config=sampling)
        seen = _as_graded({"messages": prompt_messages(rollout)} if row is None else row)
        status, results = self._graded(rollout)
        return OutputItem(
            id=f"{_ITEM_PREFIX}{rollout.id.removeprefix(_ROLLOUT_PREFIX)}",
            eval_id=self.of.id,
            run_id=validation_run_id(self.job.id, rollout.step),
            index=rollout.prompt_index,
            sample_index=rollout.sample_index,
            status=status,
            datasource_item={**seen, "trace": trace},
            results=results,
            sample=self._sample(rollout, sampling),
            created_at=int(rollout.finished_at),
        )

    def _graded(self, rollout: RolloutRow) -> tuple[ItemStatus, list[dict[str, Any]]]:
        if rollout.reward is None:
            return "error", []
        passed = passes_criterion(rollout.reward, self.of.testing_criteria[0])
        result = {
            "name": result_names(self.of)[0],
            "type": self.of.testing_criteria[0].get("type"),
            "score": rollout.reward,
            "passed": passed,
            "sample": {"components": rollout.components} if rollout.components else None,
        }
        return ("pass" if passed else "fail"), [result]

    def _sampling(self, rollout: RolloutRow, turn_limit: int | None) -> dict[str, Any]:
        last = max(0, len(rollout.trace["turns"]) - 1)
        return {
            "seed": key_of(rollout).seed(self.job.seed, last),
            "temperature": eval_temperature(self.job),
            "top_p": _TOP_P,
            "max_completion_tokens": turn_limit,
        }

    def _sample(self, rollout: RolloutRow, sampling: dict[str, Any]) -> dict[str, Any]:
        answer, turns = last_turn(rollout), rollout.trace["turns"]
        reason = turns[-1]["finish_reason"] if turns else None
        if reason == "stop" and answer is not None and answer.get("tool_calls"):
            reason = "tool_calls"
        lost = rollout.failure_class
        return {
            "input": prompt_messages(rollout),
            "output": [] if answer is None else [answer],
            "finish_reason": reason,
            "model": _model(self.job, self.validation),
            "usage": token_usage(rollout.prompt_tokens, rollout.completion_tokens),
            "error": None if lost is None else {"code": lost, "message": rollout.failure_message},
            **sampling,
        }


def run_of(of: Eval, job: Job, validation: ValidationCounts) -> EvalRun:
    failed = validation.total - validation.passed - validation.errored
    model = _model(job, validation)
    usage = token_usage(validation.prompt_tokens, validation.completion_tokens)
    error: dict[str, str] | None = None
    if validation.status is not EvalRunStatus.COMPLETED:
        message = nothing_scored(validation.total, validation.fault)
        error = {"code": ALL_ITEMS_ERRORED, "message": message}
    return EvalRun(
        id=validation_run_id(job.id, validation.step),
        eval_id=of.id,
        name=f"Step {validation.step}",
        status=validation.status,
        model=model,
        data_source={
            "type": "completions",
            "source": {"type": "file_id", "id": job.validation_file},
            "model": model,
        },
        error=error,
        counts=ResultCounts(validation.total, validation.errored, failed, validation.passed),
        criteria=[
            {"testing_criteria": result_names(of)[0], "passed": validation.passed, "failed": failed}
        ],
        usage=[{"model_name": model, "invocation_count": validation.total, **usage}],
        created_at=int(validation.finished_at),
    )


def _model(job: Job, validation: ValidationCounts) -> str:
    return validation.checkpoint or job.model


def eval_temperature(job: Job) -> float:
    sent = (job.method.options.get("hyperparameters") or {}).get("eval_temperature")
    return 1.0 if sent in (None, "auto") else float(sent)


def rollout_id(item_id: str) -> str:
    return f"{_ROLLOUT_PREFIX}{item_id.removeprefix(_ITEM_PREFIX)}"


def _as_graded(row: dict[str, Any]) -> dict[str, Any]:
    messages = [
        message if "name" in message else {"name": None, **message} for message in row["messages"]
    ]
    return {**row, "messages": messages, "tools": row.get("tools"), "parallel_tool_calls": True}
