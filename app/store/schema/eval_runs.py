"""Runs of users' evals, their leases included."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Json, Now, Timestamp


class EvalRunTable(Base):
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
            postgresql_where="status IN ('queued', 'in_progress')",
        ),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    eval_id: Mapped[str]
    name: Mapped[str]
    status: Mapped[str]
    model: Mapped[str | None]
    data_source: Mapped[Json]
    run_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    passed: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    errored: Mapped[int] = mapped_column(server_default="0")
    criteria: Mapped[list[Any]] = mapped_column(JSONB)
    usage: Mapped[list[Any]] = mapped_column(JSONB)
    created_at: Mapped[Now]
    started_at: Mapped[Timestamp | None]
    finished_at: Mapped[Timestamp | None]
    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Rises with every claim; a write that carries an older one is refused."""
    attempts: Mapped[int] = mapped_column(server_default="0")
    """Claims since the last item was written."""
    lease_owner: Mapped[str | None]
    lease_until: Mapped[Timestamp | None]
    dispatched_at: Mapped[Timestamp | None]
    """When a worker was last woken for it."""
