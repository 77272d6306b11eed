"""The parts of the service's replies that the commands of jobs read. Other keys may change."""

from typing import Any, ClassVar

from pydantic import BaseModel, FiniteFloat

from app.cli.service.ids import ServiceId
from app.domain.errors import NOTHING_TO_LEARN as NOTHING_TO_LEARN_CODE
from app.domain.processes.exit_codes import JOB_PAUSED, NOTHING_TO_LEARN, RUN_CANCELLED, RUN_FAILED

ENDED = frozenset({"succeeded", "failed", "cancelled"})
PAUSED = "paused"


class JobErrorReply(BaseModel):
    code: str | None = None
    message: str | None = None


class StateReply(BaseModel):
    """State of a job, in its own reply and in its stream."""

    id: ServiceId
    status: str
    step: int = 0
    total_steps: int | None = None
    estimated_finish: FiniteFloat | None = None
    fine_tuned_model: str | None = None
    error: JobErrorReply | None = None

    @property
    def exit_code(self) -> int:
        """Returns the code of a command that followed the job to this state."""
        match self.status:
            case "failed":
                nothing = self.error is not None and self.error.code == NOTHING_TO_LEARN_CODE
                return NOTHING_TO_LEARN if nothing else RUN_FAILED
            case "cancelled":
                return RUN_CANCELLED
            case "paused":
                return JOB_PAUSED
            case _:
                return 0

    @property
    def is_last(self) -> bool:
        """True for a state at which a command stops following the job."""
        return self.status in {*ENDED, PAUSED}

    @property
    def ending(self) -> str:
        """Returns the sentence with which following the job ends."""
        match self.status:
            case "succeeded":
                return f"succeeded: the tuned model is {self.fine_tuned_model}"
            case "paused":
                return f"paused at step {self.progress}: agent-rft jobs resume {self.id}"
            case "failed" if self.error is not None:
                return f"failed ({self.error.code}): {self.error.message}"
            case _:
                return self.status

    @property
    def progress(self) -> str:
        return f"{self.step}/{self.total_steps or '?'}"


class JobReply(StateReply):
    model: str
    created_at: float
    finished_at: float | None = None
    training_file: str | None = None
    validation_file: str | None = None
    seed: int | None = None
    queue_position: int | None = None
    user_provided_suffix: str | None = None
    ended_early: dict[str, Any] | None = None
    usage_metrics: dict[str, Any] | None = None


class PointReply(BaseModel):
    name: str
    split: str
    step: int
    value: FiniteFloat


class EventReply(BaseModel):
    is_last: ClassVar[bool] = False
    """Always false: a state follows the last event."""
    exit_code: ClassVar[int] = 0
    id: str
    created_at: float
    level: str
    message: str
    data: dict[str, Any] | None = None
    points: list[PointReply] = []


class CurvePointReply(BaseModel):
    step: int
    value: FiniteFloat


class CurveReply(BaseModel):
    name: str
    split: str
    points: list[CurvePointReply]

    @property
    def label(self) -> str:
        return f"{self.name} ({self.split})"


class CurvesReply(BaseModel):
    data: list[CurveReply]


class IssueReply(BaseModel):
    code: str
    message: str
    param: str | None = None
    line: int | None = None
    pointer: str | None = None


class ValidationReply(BaseModel):
    valid: bool
    errors: list[IssueReply]
    warnings: list[IssueReply]
    estimate: dict[str, Any] | None = None
    grader_choice: dict[str, Any] | None = None
