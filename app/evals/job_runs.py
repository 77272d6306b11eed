"""Makes the runs of an eval that is attached to a job: one samples the model that training started
from, the other the tuned model. Pure.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from app.evals.data_sources import AttachedSource
from app.evals.evals import (
    ALL_ITEMS_ERRORED,
    Eval,
    EvalRun,
    EvalRunStatus,
    ItemStatus,
    OutputItem,
    ResultCounts,
    nothing_scored,
    passes_criterion,
    result_names,
    token_usage,
    validation_run_id,
)
from app.jobs.jobs import AttachedEval, Job
from app.kit.ids import SampleKey, new_id
from app.rollouts.rollouts import RolloutRow, last_turn, prompt_messages, trace_of


def file_of(attached: AttachedEval) -> str:
    """Returns the id of the file with the items."""
    return AttachedSource.model_validate(attached.data_source).source.id


def attached_run(
    attached: AttachedEval, job_id: str, *, model: str, side: Literal["start", "tuned"]
) -> EvalRun:
    """Returns a new run that samples `model`. The data source is not checked again: a release that
    refuses it fails the run, and not the job whose end starts it.
    """
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
    """The counts of one validation."""

    step: int
    total: int
    passed: int
    errored: int
    prompt_tokens: int
    completion_tokens: int
    finished_at: float
    """Unix seconds."""
    checkpoint: str | None
    """The model that was validated; `None` for the base."""
    fault: str | None
    """Failure of the first lost rollout in the order of the rows; `None` if none was lost."""

    @property
    def status(self) -> EvalRunStatus:
        """A validation without a reward has failed, as any run that could score nothing."""
        scored = self.errored < self.total
        return EvalRunStatus.COMPLETED if scored else EvalRunStatus.FAILED


@dataclass(frozen=True, slots=True)
class ValidationItems:
    """One validation, with its rollouts as output items."""

    of: Eval
    job: Job
    validation: ValidationCounts

    def item(
        self, rollout: RolloutRow, row: dict[str, Any] | None, *, turn_limit: int | None
    ) -> OutputItem:
        """Returns a rollout as an output item. `row` is `None` once its file was deleted; its
        messages are in the trace.
        """
        sampling = self._sampling(rollout, turn_limit)
        trace = trace_of(rollout, model=self._model, model_config=sampling)
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

    @property
    def _model(self) -> str:
        return _model(self.job, self.validation)

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
        key = SampleKey(
            self.job.id,
            rollout.split,
            rollout.step,
            rollout.prompt_index,
            rollout.sample_index,
            rollout.attempt,
        )
        last = max(0, len(rollout.trace["turns"]) - 1)
        return {
            "seed": key.seed(self.job.seed, last),
            "temperature": _temperature(self.job),
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
            "model": self._model,
            "usage": token_usage(rollout.prompt_tokens, rollout.completion_tokens),
            "error": None if lost is None else {"code": lost, "message": rollout.failure_message},
            **sampling,
        }


def run_of(of: Eval, job: Job, validation: ValidationCounts) -> EvalRun:
    failed = validation.total - validation.passed - validation.errored
    model = _model(job, validation)
    usage = token_usage(validation.prompt_tokens, validation.completion_tokens)
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
        error=_error_of(validation),
        counts=ResultCounts(validation.total, validation.errored, failed, validation.passed),
        criteria=[
            {
                "testing_criteria": result_names(of)[0],
                "passed": validation.passed,
                "failed": failed,
            }
        ],
        usage=[{"model_name": model, "invocation_count": validation.total, **usage}],
        created_at=int(validation.finished_at),
    )


def _error_of(validation: ValidationCounts) -> dict[str, str] | None:
    if validation.status is EvalRunStatus.COMPLETED:
        return None
    message = nothing_scored(validation.total, validation.fault)
    return {"code": ALL_ITEMS_ERRORED, "message": message}


def _model(job: Job, validation: ValidationCounts) -> str:
    return validation.checkpoint or job.model


def _temperature(job: Job) -> float:
    """Returns the temperature of the job's validations. While the files are being checked it is
    still `auto`, which becomes 1, as in training.
    """
    sent = (job.method.options.get("hyperparameters") or {}).get("eval_temperature")
    return 1.0 if sent in (None, "auto") else float(sent)


def rollout_id(item_id: str) -> str:
    """Returns the rollout that an output item shows."""
    return f"{_ROLLOUT_PREFIX}{item_id.removeprefix(_ITEM_PREFIX)}"


def _as_graded(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the whole row, with all keys that graders rely on."""
    messages = [
        message if "name" in message else {"name": None, **message} for message in row["messages"]
    ]
    return {**row, "messages": messages, "tools": row.get("tools"), "parallel_tool_calls": True}
