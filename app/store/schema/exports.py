"""Exports of models, with the lease of the worker that makes each of them."""

from typing import Any, Final

from sqlalchemy import BigInteger, Index, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Timestamp, of_project
from app.store.schema.leases import QueuedRow, queue_indexes

OPEN: Final = "status IN ('queued', 'in_progress')"
"""Condition of the partial indexes on exports that have not ended."""


class ModelExportTable(QueuedRow, Base):
    __tablename__ = "model_exports"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "id", unique=True),
        Index(None, "project_id", "model", "created_at", "id"),
        Index(
            "uq_model_exports_open",
            "project_id",
            "model",
            "kind",
            unique=True,
            postgresql_where=OPEN,
        ),
        Index("ix_model_exports_expiring", "expires_at"),
        *queue_indexes("model_exports", is_open=OPEN),
    )

    model: Mapped[str]
    base_model: Mapped[str]
    kind: Mapped[str]
    stage: Mapped[str | None]
    bytes: Mapped[int] = mapped_column(BigInteger)
    """Counts toward the project's quota of bytes, from the start as an estimate."""
    object_key: Mapped[str | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    started_at: Mapped[Timestamp | None]
    finished_at: Mapped[Timestamp | None]
    expires_at: Mapped[Timestamp | None]
    """Time at which files and row are removed; a deletion sets it to now."""
    deleted_at: Mapped[Timestamp | None]
