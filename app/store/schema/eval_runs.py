"""Runs of users' evals, with the lease of the worker that works on each of them."""

from typing import Any

from sqlalchemy import BigInteger, Computed, ForeignKeyConstraint, Index, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.evals.data_sources import MAX_ITEMS
from app.store.schema.base import Base, JsonColumn, Timestamp
from app.store.schema.leases import QueuedRow, queue_indexes

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
        Index(
            "ix_eval_runs_open",
            "status",
            "dispatched_at",
            postgresql_where=_OPEN,
        ),
        *queue_indexes("eval_runs", is_open=_OPEN),
    )

    eval_id: Mapped[str]
    name: Mapped[str]
    model: Mapped[str | None]
    data_source: Mapped[JsonColumn]
    bytes: Mapped[int] = mapped_column(
        BigInteger, Computed("octet_length(data_source::text)", persisted=True)
    )
    """Counts toward the project's quota of bytes."""
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
