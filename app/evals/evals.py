"""The baseline of an eval run: the spread of the scores over the samples of each item. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean
from typing import Any, Final, Literal
from uuid import NAMESPACE_URL, uuid5

from app.graders.definitions import AnyGrader, passing_score
from app.kit.errors import NoEffect, NotFound
from app.kit.faults import UnreadKey
from app.rollouts.baselines import Baseline, BaselineRow

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
"""Code of the error of a run without a score."""
INVOCATIONS: Final = "invocation_count"
OPEN_RUNS: Final = (EvalRunStatus.QUEUED, EvalRunStatus.IN_PROGRESS)
EvalOrder = Literal["created_at", "updated_at"]
"""Times by which a list of evals can be sorted."""
ItemStatus = Literal["pass", "fail", "error"]
"""`error`: there is no sample or no score, so the item neither passed nor failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eval:
    id: str
    job_id: str | None = None
    """The job whose validations are its runs; `None` for a user's own eval."""
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
    """A create call as a domain value."""

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
    """Returns the message about a run whose every item is an error. `why` is that of one item."""
    shown = "" if why is None else f" The first one: {why}"
    return f"Nothing could be scored: each of {total} output items is an error.{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    id: str
    eval_id: str
    name: str
    status: EvalRunStatus
    model: str | None
    """The model that is evaluated; `None` when the run samples none."""
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
    """Number of the sample among those of its item, from 0."""
    status: ItemStatus
    datasource_item: dict[str, Any]
    results: list[dict[str, Any]]
    sample: dict[str, Any]
    created_at: int = 0


def eval_id_of(job_id: str) -> str:
    """Returns the eval of a job: a pure function of the job's id, so no column holds it."""
    return f"eval_{job_id.removeprefix(_JOB_PREFIX)}"


def eval_of_job(job_id: str, grader: dict[str, Any]) -> Eval:
    """Returns the eval of a job; `grader` is the job's, its header values redacted."""
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
    """Returns the step whose validation has this run id, `None` for the id of another job."""
    start, _, step = run_id.rpartition("_")
    if f"{start}_" != validation_run_id(job_id, 0)[:-1] or not step.isdecimal() or len(step) > 9:  # noqa: PLR2004 - an int of the database
        return None
    return int(step) if str(int(step)) == step else None


def threshold(criterion: dict[str, Any]) -> float | None:
    """Returns the least score that passes: the criterion's own `pass_threshold`, 1 for a check with
    only two results, and `None` if any score above 0 passes.
    """
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
    """Returns `<grader>-<uuid>` for each criterion: the same in every run, and unique among graders
    of one name.
    """
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
    """Adds up a run item by item, so that the totals written with an item include all earlier
    items.
    """

    def __init__(self, criteria: Iterable[str]) -> None:
        """`criteria` are the result names of the run, in order."""
        self._total: dict[ItemStatus, int] = {"pass": 0, "fail": 0, "error": 0}
        self._criteria = {name: [0, 0] for name in criteria}
        self._usage: dict[str, dict[str, int]] = {}

    def add(
        self,
        status: ItemStatus,
        results: list[dict[str, Any]],
        usage: list[tuple[str, dict[str, int]]],
    ) -> None:
        """`usage` names each model that was called, with its tokens and, under `INVOCATIONS`, the
        number of its calls: one if that is absent.
        """
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
    """One sample of an item, and its score by each criterion."""

    index: int
    status: ItemStatus
    scores: Sequence[float]


def run_baseline(samples: Iterable[SampleScore]) -> Baseline:
    """Returns the baseline. The reward of a sample is the mean of its criteria's scores, and it
    passes where all criteria do.
    """
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
