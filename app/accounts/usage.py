"""Limits on what one project may store, queue and run, and on the projects of an organization."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.kit.errors import QuotaExceeded


class Quotas(BaseModel):
    """The limits of every project. Columns of a project's row may replace all but those in
    flight, which each API process counts for itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    projects: int = Field(1_000, ge=1)
    """Projects of an organization that are not archived."""
    queued_jobs: int = Field(200, ge=0)
    """Jobs that no worker has begun."""
    running_jobs: int = Field(32, ge=1)
    """Jobs that workers run at the same time."""
    queued_eval_runs: int = Field(200, ge=0)
    """Eval runs that no worker has begun."""
    running_eval_runs: int = Field(32, ge=1)
    """Eval runs that workers run at the same time."""
    queued_exports: int = Field(20, ge=0)
    """Exports of models that no worker has begun."""
    running_exports: int = Field(1, ge=1)
    """Exports of models that workers run at the same time."""
    files: int = Field(10_000, ge=0)
    """Files and pending uploads."""
    stored_bytes: int = Field(100 * 1024**3, ge=0)
    """Bytes of files, of the parts of pending uploads, of exports of models, and of evals, their
    runs, stored chat completions and feedback as JSON.
    """
    eval_output_items: int = Field(1_000_000, ge=0)
    """Output items of eval runs. A run that has not ended counts with all rows of its data source;
    rows of a file, which is read later, count as 10,000.
    """
    registered_objects: int = Field(2_000, ge=0)
    """Versions of tools, graders, curricula, environments and a project's own recipes."""
    students: int = Field(1_000, ge=0)
    """Students, each of which keeps its skills and Coach sessions."""
    open_coach_sessions: int = Field(100, ge=0)
    """Coach sessions that run or are paused."""
    feedback: int = Field(1_000_000, ge=0)
    """Pieces of feedback."""
    chats_in_flight: int = Field(128, ge=1)
    """Chat completions that one API process answers at the same time."""
    requests_in_flight: int = Field(256, ge=1)
    """Requests that one API process answers at the same time, until the last byte of the reply."""
    downloads_in_flight: int = Field(16, ge=1)
    """Downloads of files and adapters that one API process sends at the same time."""
    streams_in_flight: int = Field(64, ge=1)
    """Live streams of jobs that one API process sends at the same time."""


def check_quota(name: str, *, used: int, adding: int, limit: int) -> None:
    if used + adding > limit:
        holder = "organization" if name == "projects" else "project"
        raise QuotaExceeded(
            f"This {holder} has reached its quota of {name} ({used} of {limit} in use). "
            f"{_CURES[name]} or ask the operator for a higher quota."
        )


_CURES = {
    "projects": "Archive a project",
    "queued_jobs": "Wait until a job starts, cancel one,",
    "queued_eval_runs": "Wait until a run starts, cancel one,",
    "queued_exports": "Wait until an export starts, delete one,",
    "files": "Delete files that are no longer needed, cancel pending uploads,",
    "stored_bytes": "Delete files, exports, evals, eval runs, stored chat completions or feedback "
    "that are no longer needed, cancel pending uploads,",
    "eval_output_items": "Delete evals or eval runs that are no longer needed, wait for the end of "
    "open ones,",
    "registered_objects": "Delete tools, graders, curricula or environments that are no longer "
    "needed,",
    "students": "Delete students that are no longer needed,",
    "open_coach_sessions": "Wait until a session ends, cancel one,",
    "feedback": "Delete feedback that is no longer needed,",
}


UsageKind = Literal["completions", "fine_tuning"]
UsageGrouping = Literal["project_id", "api_key_id", "model", "job_id", "line_item"]
BucketWidth = Literal["1m", "1h", "1d"]
MINUTE_S: Final = 60
WIDTHS_S: Final[Mapping[BucketWidth, int]] = {"1m": MINUTE_S, "1h": 3600, "1d": 86_400}


@dataclass(frozen=True, slots=True)
class Amounts:
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    trained_tokens: int = 0
    rollouts: int = 0
    tool_calls: int = 0
    grader_calls: int = 0
    judge_input_tokens: int = 0
    judge_output_tokens: int = 0
    training_s: float = 0.0
    gpu_s: float = 0.0
    cost: float | None = None
    """`None` while no price is configured."""
    currency: str | None = None

    def plus(self, other: "Amounts") -> "Amounts":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Amounts(
            **counts, cost=sum(costs) if costs else None, currency=other.currency or self.currency
        )


COUNTS: Final = tuple(f.name for f in fields(Amounts) if f.name not in ("cost", "currency"))


@dataclass(frozen=True, slots=True)
class UsageRecord:
    id: str
    kind: UsageKind
    key_id: str
    model: str
    used_at: int
    amounts: Amounts
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """The records to add up, from `start_s` until before `end_s`. An empty filter is none."""

    kind: UsageKind | None
    start_s: int
    end_s: int
    width: BucketWidth = "1d"
    group_by: tuple[UsageGrouping, ...] = ()
    project_ids: tuple[str, ...] = ()
    key_ids: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    job_ids: tuple[str, ...] = ()
    in_money: bool = False
    """Adds costs up too, those of each currency apart."""

    def in_whole_minutes(self) -> "UsageQuery":
        """Returns the query with every minute that it touches: chats are recorded by the minute."""
        end_s = -(-self.end_s // MINUTE_S) * MINUTE_S
        return replace(self, start_s=self.start_s // MINUTE_S * MINUTE_S, end_s=end_s)


@dataclass(frozen=True, slots=True)
class UsageSum:
    amounts: Amounts
    project_id: str | None = None
    api_key_id: str | None = None
    model: str | None = None
    job_id: str | None = None
    line_item: UsageKind | None = None


@dataclass(frozen=True, slots=True)
class UsageBucket:
    start_s: int
    end_s: int
    sums: list[UsageSum] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UsagePage:
    buckets: list[UsageBucket]
    next_page: str | None


def buckets_of(query: UsageQuery, *, first_s: int, limit: int) -> list[UsageBucket]:
    width = WIDTHS_S[query.width]
    made: list[UsageBucket] = []
    start = first_s
    while start < query.end_s and len(made) < limit:
        end = min(start // width * width + width, query.end_s)
        made.append(UsageBucket(start, end))
        start = end
    return made
