"""Tuned models by the name that a tenant calls."""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.leases import QueuedRow, queue_indexes
from app.kit.sql import Base, JsonColumn, Now, Timestamp, of_job, of_own_project, of_project


class TunedModelTable(Base):
    __tablename__ = "tuned_models"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "name"),
        UniqueConstraint("engine_name"),
        of_job(),
    )

    name: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    base_model: Mapped[str]
    engine_name: Mapped[str]
    object_key: Mapped[str]
    step: Mapped[int]
    reasoning_effort: Mapped[str | None]
    created_at: Mapped[Now]
    deleted_at: Mapped[Timestamp | None]


class CheckpointPermissionTable(Base):
    __tablename__ = "checkpoint_permissions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        UniqueConstraint(
            "project_id", "model_name", "target_project_id", name="uq_checkpoint_permissions_grant"
        ),
        of_own_project(),
        # Includes the organization, because foreign keys are not subject to row-level security.
        ForeignKeyConstraint(
            ["organization_id", "target_project_id"],
            ["projects.organization_id", "projects.id"],
            name="fk_checkpoint_permissions_target",
        ),
        ForeignKeyConstraint(
            ["project_id", "model_name"],
            ["tuned_models.project_id", "tuned_models.name"],
            name="fk_checkpoint_permissions_model",
            ondelete="CASCADE",
        ),
        Index(None, "project_id", "model_name", "created_at", "id"),
        Index(None, "target_project_id"),
    )

    id: Mapped[str]
    organization_id: Mapped[str]
    project_id: Mapped[str]
    model_name: Mapped[str]
    target_project_id: Mapped[str]
    created_at: Mapped[Now]


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


class StoredCompletionTable(Base):
    __tablename__ = "stored_completions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "created_at", "id"),
        Index(None, "project_id", "end_user"),
        Index(None, "created_at"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    model: Mapped[str]
    end_user: Mapped[str | None]
    completion_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    request: Mapped[JsonColumn]
    reply: Mapped[JsonColumn]
    bytes: Mapped[int] = mapped_column(BigInteger)
    """Size of request and reply as JSON, which the quota counts."""
    created_at: Mapped[Now]
