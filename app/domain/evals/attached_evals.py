"""Evals that are attached to a job: once it has succeeded, a run samples the model that training
started from, and another one the tuned model. Pure.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from app.domain.evals.data_sources import AttachedSource
from app.domain.evals.evals import EvalRun, EvalRunStatus
from app.domain.ids import new_id

EVALS: Final = "evals"
"""Parameter of a create call."""
MAX_ATTACHED: Final = 4


@dataclass(frozen=True, slots=True)
class AttachedEval:
    eval_id: str
    data_source: dict[str, Any]
    """As sent, without a model."""
    start_run_id: str | None = None
    """The run that samples the model at the start; `None` before the job has succeeded."""
    tuned_run_id: str | None = None
    error: str | None = None
    """The reason why the job's end started no run."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def file_id(self) -> str:
        return AttachedSource.model_validate(self.data_source).source.id

    def started(self, runs: "RunsOfEval") -> "AttachedEval":
        return replace(self, start_run_id=runs.start.id, tuned_run_id=runs.tuned.id)

    def without_runs(self) -> "AttachedEval":
        reason = f"Eval {self.eval_id} was deleted before the job succeeded, so it has no runs."
        return replace(self, error=reason)

    def runs(self, job_id: str, *, start: str, tuned: str) -> "RunsOfEval":
        """Returns the runs for the models `start` and `tuned`."""
        return RunsOfEval(self._run(job_id, start, "start"), self._run(job_id, tuned, "tuned"))

    def _run(self, job_id: str, model: str, side: str) -> EvalRun:
        return EvalRun(
            id=new_id("evalrun_"),
            eval_id=self.eval_id,
            name=f"{job_id}: {side}",
            status=EvalRunStatus.QUEUED,
            model=model,
            data_source={**self.data_source, "model": model},
            metadata={"job_id": job_id, "model": side},
        )


@dataclass(frozen=True, slots=True)
class RunsOfEval:
    start: EvalRun
    tuned: EvalRun

    def __iter__(self) -> Iterator[EvalRun]:
        return iter((self.start, self.tuned))


def read_attached(stored: list[dict[str, Any]]) -> list[AttachedEval]:
    """Returns the attached evals of a job's row."""
    return [AttachedEval(**each) for each in stored]
