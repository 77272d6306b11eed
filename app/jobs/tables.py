"""Fine-tuning jobs, with the lease of the worker that runs each of them."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Double,
    Identity,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.leases import QueuedRow, queue_indexes
from app.kit.sql import Base, JsonColumn, Now, Timestamp, of_job, of_own_project

_OPEN = "status IN ('validating_files', 'queued', 'running', 'pausing')"


class FineTuningJobTable(QueuedRow, Base):
    __tablename__ = "fine_tuning_jobs"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_own_project(),
        Index(None, "id", unique=True),
        Index(None, "project_id", "created_at", "id"),
        Index("ix_fine_tuning_jobs_open", "status", "dispatched_at", postgresql_where=_OPEN),
        *queue_indexes("fine_tuning_jobs", text("priority DESC"), is_open=_OPEN),
        Index(
            "ix_fine_tuning_jobs_unclean", "clean_after", postgresql_where="clean_after IS NOT NULL"
        ),
        Index(
            "ix_fine_tuning_jobs_finished",
            "finished_at",
            "id",
            postgresql_where="finished_at IS NOT NULL AND deleted_at IS NULL",
        ),
    )

    organization_id: Mapped[str]
    key_id: Mapped[str]
    model: Mapped[str]
    training_file: Mapped[str]
    validation_file: Mapped[str | None]
    seed: Mapped[int] = mapped_column(BigInteger)
    suffix: Mapped[str | None]
    method: Mapped[JsonColumn]
    mcp_listings: Mapped[dict[str, Any] | None] = mapped_column(
        JSONB(none_as_null=True), deferred=True
    )
    """Listings of the job's MCP servers, by the position of the server. A mapped row loads it only
    when it is named: it may have 500,000 characters, which a list of jobs does not show.
    """
    secrets: Mapped[bytes | None] = mapped_column(LargeBinary)
    job_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    integrations: Mapped[list[Any]] = mapped_column(JSONB)
    evals: Mapped[list[Any]] = mapped_column(JSONB, server_default="[]")
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    started_at: Mapped[Timestamp | None]
    finished_at: Mapped[Timestamp | None]
    estimated_finish: Mapped[Timestamp | None]
    fine_tuned_model: Mapped[str | None]
    trained_tokens: Mapped[int | None] = mapped_column(BigInteger)
    result_files: Mapped[list[Any]] = mapped_column(JSONB)
    max_training_time_s: Mapped[float | None]
    max_rollouts: Mapped[int | None] = mapped_column(BigInteger)
    priority: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    usage: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    kept_checkpoints: Mapped[list[int] | None] = mapped_column(JSONB(none_as_null=True))
    ended_early: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    verdict: Mapped[str | None]
    reproducibility: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    stop_request: Mapped[str | None]
    step: Mapped[int] = mapped_column(server_default="0")
    total_steps: Mapped[int | None]
    resume_key: Mapped[str | None]
    adapter_key: Mapped[str | None]
    put_backs: Mapped[int] = mapped_column(server_default="0")
    """Number of successive put-backs of the job, because it only waited for its endpoints."""
    deleted_at: Mapped[Timestamp | None]
    rollouts_deleted_at: Mapped[Timestamp | None]
    clean_after: Mapped[Timestamp | None]
    """The time from which unreferenced rows and objects of the ended job are removed; `None` if
    there are none.
    """


class CheckpointTable(Base):
    __tablename__ = "checkpoints"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        UniqueConstraint("job_id", "step"),
        of_job(),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    step: Mapped[int]
    model_name: Mapped[str]
    object_key: Mapped[str]
    metrics: Mapped[JsonColumn]
    created_at: Mapped[Now]


class JobEventTable(Base):
    __tablename__ = "job_events"
    __table_args__ = (of_job(), Index(None, "job_id", "seq"), Index(None, "id", unique=True))

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    created_at: Mapped[Now]
    level: Mapped[str]
    type: Mapped[str]
    message: Mapped[str]
    data: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class JournalTable(Base):
    __tablename__ = "journal"
    __table_args__ = (PrimaryKeyConstraint("job_id", "key"), of_job())

    job_id: Mapped[str]
    key: Mapped[str]
    project_id: Mapped[str]
    step: Mapped[int]
    request_sha256: Mapped[str]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[Now]


class JobMetricTable(Base):
    __tablename__ = "job_metrics"
    __table_args__ = (PrimaryKeyConstraint("job_id", "name", "split", "step"), of_job())

    job_id: Mapped[str]
    name: Mapped[str]
    split: Mapped[str]
    step: Mapped[int]
    project_id: Mapped[str]
    value: Mapped[float] = mapped_column(Double)


class JobMetricBlockTable(Base):
    """Summary of a curve's points whose steps are in `block * size … (block + 1) * size - 1`. A
    trigger on the points computes it; nothing else writes it.
    """

    __tablename__ = "job_metric_blocks"
    __table_args__ = (PrimaryKeyConstraint("job_id", "size", "name", "split", "block"), of_job())

    job_id: Mapped[str]
    name: Mapped[str]
    split: Mapped[str]
    size: Mapped[int]
    block: Mapped[int]
    project_id: Mapped[str]
    points: Mapped[int]
    total: Mapped[float] = mapped_column(Double)
    """Sum of the values, each limited to ±1e200."""
    low: Mapped[float] = mapped_column(Double)
    low_step: Mapped[int]
    high: Mapped[float] = mapped_column(Double)
    high_step: Mapped[int]
    first: Mapped[float] = mapped_column(Double)
    first_step: Mapped[int]
    last: Mapped[float] = mapped_column(Double)
    last_step: Mapped[int]


class ReportTable(Base):
    __tablename__ = "reports"
    __table_args__ = (PrimaryKeyConstraint("project_id", "job_id"), of_job())

    project_id: Mapped[str]
    job_id: Mapped[str]
    report: Mapped[JsonColumn]
    created_at: Mapped[Now]
