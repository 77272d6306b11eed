"""The context of a run: its job, its fence, and its clients.

Every write of a run goes through `unit()`, which opens a transaction with the run's fence.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.domain.jobs.jobs import Job, TuningMethod
from app.domain.models.models import BaseModelSpec
from app.gateways.egress.egress import Egress
from app.gateways.inference.adapters import AdapterCache, build_adapter_cache
from app.gateways.inference.inference import Inference
from app.gateways.objects import Objects
from app.settings.settings import Settings
from app.store.database import Database
from app.store.unit_of_work import RunUnitOfWork
from workers.runs.activity import Activity
from workers.runs.directories import JobDirectories

ADAPTER: Final = "adapter"
STATE: Final = "state"
SCHEDULER: Final = "scheduler"
"""The directories of a step."""


@dataclass(frozen=True, slots=True)
class RunContext:
    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    inference: Inference
    job: Job
    fence: int
    scratch: Path
    """The claim's own directory, removed at its end; the engine can read it."""
    organization_slug: str
    base_model: BaseModelSpec
    method: TuningMethod
    """The job's method, with the customer's headers in clear."""
    judge_egress: Egress | None = None
    """Client for the operator's judge servers, if any are configured."""
    activity: Activity = field(default_factory=Activity)
    start: Path | None = None
    """Directory of the tuned adapter that the job starts from; `None` for the bare base model."""

    @property
    def files_validated(self) -> bool:
        """Returns whether the control plane or an earlier claim has checked the job's files."""
        return self.job.total_steps is not None

    def unit(self) -> RunUnitOfWork:
        """Returns a fenced transaction. Raises `LeaseLost` once a newer claim exists."""
        return self.database.run(self.job.project_id, self.job.id, self.fence)

    def step_key(self, step: int) -> str:
        """Returns the prefix of the objects this claim writes for a step; no two claims share
        one.
        """
        return f"{self.job_key}/step-{step:06d}-f{self.fence}"

    @property
    def job_key(self) -> str:
        return f"projects/{self.job.project_id}/jobs/{self.job.id}"

    def step(self, step: int) -> JobDirectories:
        """Returns the directories of a step that this claim writes."""
        path = self.scratch / f"step-{step:06d}"
        return JobDirectories(self.objects, self.step_key(step), path)

    def notes(self, name: str) -> JobDirectories:
        """Directories that any claim of the job may have written, needed until the job ends."""
        return JobDirectories(self.objects, f"{self.job_key}/{name}", self.scratch / name)

    @property
    def adapters(self) -> AdapterCache:
        """Adapters of tuned models that the run calls, e.g. as judges."""
        return build_adapter_cache(self.settings, self.objects)
