"""What a run holds: its job, its fence, and the doors it may use.

Every write of a run goes through `unit()`, which opens a transaction that holds the run's fence.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.domain.jobs.jobs import Job, TuningMethod
from app.domain.methods.reinforcement import ReinforcementMethod, ResolvedHyperparameters
from app.domain.models.models import BaseModelSpec
from app.gateways.egress.egress import Egress
from app.gateways.inference.inference import Inference
from app.gateways.objects import Objects
from app.settings import Settings
from app.store.database import Database
from app.store.unit_of_work import RunUnitOfWork


@dataclass(frozen=True, slots=True)
class RunContext:
    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    inference: Inference
    job: Job
    fence: int
    organization_slug: str
    base_model: BaseModelSpec
    method: TuningMethod
    """With the real headers of tools and grader."""
    judge_egress: Egress | None = None
    """The way to the operator's judges, if there are any."""
    start: Path | None = None
    """Directory of the tuned adapter that the job starts from; `None` for the bare base model."""

    @property
    def reinforcement(self) -> ReinforcementMethod:
        """The method of a job that is trained."""
        if not isinstance(self.method, ReinforcementMethod):
            raise TypeError(f"{self.job.id} is no reinforcement job")
        return self.method

    def unit(self) -> RunUnitOfWork:
        """A fenced transaction. Raises `LeaseLost` once a newer claim exists."""
        return self.database.run(self.job.project_id, self.job.id, self.fence)

    def step_key(self, step: int) -> str:
        """Object key of what this claim writes for a step; no two claims share one."""
        return f"{self.job_key}/step-{step:06d}-f{self.fence}"

    @property
    def job_key(self) -> str:
        return f"projects/{self.job.project_id}/jobs/{self.job.id}"

    def step_path(self, step: int) -> Path:
        return self.objects.local_path(self.step_key(step))


class Steps(Protocol):
    """What is told of a run's length, whatever it trains by."""

    @property
    def total_steps(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A run's arithmetic, fixed once its files are validated."""

    hyperparameters: ResolvedHyperparameters
    train_rows: int

    @property
    def total_steps(self) -> int:
        return self.hyperparameters.total_steps

    def evaluates_after(self, step: int) -> bool:
        """Validation runs at every `eval_interval` and always after the last step."""
        return step == self.total_steps or step % self.hyperparameters.eval_interval == 0
