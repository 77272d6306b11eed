"""Evals that are attached to a job, as its row holds them. Pure.

`app.domain.evals.attached_runs` makes their runs.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

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

    def started(self, *, start: str, tuned: str) -> "AttachedEval":
        """Returns the eval with the ids of its runs."""
        return replace(self, start_run_id=start, tuned_run_id=tuned)

    def without_runs(self) -> "AttachedEval":
        reason = f"Eval {self.eval_id} was deleted before the job succeeded, so it has no runs."
        return replace(self, error=reason)


def read_attached(stored: list[dict[str, Any]]) -> list[AttachedEval]:
    """Returns the attached evals of a job's row."""
    return [AttachedEval(**each) for each in stored]
