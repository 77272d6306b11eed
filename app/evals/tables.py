"""Evals. The eval of a job belongs to the job; its runs are read from the job's rollouts."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Computed,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.evals.data_sources import MAX_ITEMS
from app.kit.leases import QueuedRow, queue_indexes
from app.kit.sql import Base, JsonColumn, Now, Timestamp, of_job, of_project


class EvalTable(Base):
    __tablename__ = "evals"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        of_job(),
        Index(None, "project_id", "created_at", "id"),
        Index(None, "project_id", "updated_at", "id"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str | None]
    name: Mapped[str]
    data_source_config: Mapped[JsonColumn]
    testing_criteria: Mapped[list[Any]] = mapped_column(JSONB)
    secrets: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Sealed headers of graders; see `app.kit.sealing`."""
    eval_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    bytes: Mapped[int] = mapped_column(
        BigInteger,
        Computed(
            "octet_length(data_source_config::text) + octet_length(testing_criteria::text)",
            persisted=True,
        ),
    )
    """Counts toward the project's quota of bytes, unless the eval is of a job."""
    created_at: Mapped[Now]
    updated_at: Mapped[Now]


_OPEN = "status IN ('queued', 'in_progress')"


class EvalRunTable(QueuedRow, Base):
    __tablename__ = "eval_runs"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "eval_id"], ["evals.project_id", "evals.id"], ondelete="CASCADE"
        ),
        Index(None, "id", unique=True),
        Index(None, "project_id", "eval_id", "created_at", "id"),
        Index("ix_eval_runs_open", "status", "dispatched_at", postgresql_where=_OPEN),
        *queue_indexes("eval_runs", is_open=_OPEN),
    )

    eval_id: Mapped[str]
    name: Mapped[str]
    model: Mapped[str | None]
    data_source: Mapped[JsonColumn]
    bytes: Mapped[int] = mapped_column(
        BigInteger, Computed("octet_length(data_source::text)", persisted=True)
    )
    planned_items: Mapped[int] = mapped_column(BigInteger, server_default=str(MAX_ITEMS))
    """Counts toward the quota of output items until the run ends; then the items that it has do."""
    run_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    passed: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    errored: Mapped[int] = mapped_column(server_default="0")
    criteria: Mapped[list[Any]] = mapped_column(JSONB)
    usage: Mapped[list[Any]] = mapped_column(JSONB)
    started_at: Mapped[Timestamp | None]
    finished_at: Mapped[Timestamp | None]


class EvalItemTable(Base):
    __tablename__ = "eval_output_items"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "run_id"], ["eval_runs.project_id", "eval_runs.id"], ondelete="CASCADE"
        ),
        UniqueConstraint("project_id", "run_id", "position"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    run_id: Mapped[str]
    eval_id: Mapped[str]
    position: Mapped[int]
    status: Mapped[str]
    datasource_item: Mapped[JsonColumn]
    results: Mapped[list[Any]] = mapped_column(JSONB)
    sample: Mapped[JsonColumn]
    usage: Mapped[list[Any]] = mapped_column(JSONB)
    """`[[model, tokens]]` of every call for the item; the next claim adds them to the totals."""
    created_at: Mapped[Now]
