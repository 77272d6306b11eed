"""Organizations and their projects. A project is the unit of isolation."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Id, Now, Timestamp

_WEIGHTS: Final = "share_weight BETWEEN 1e-6 AND 1e6"
"""Check constraint of weights: a weight is not NaN or infinite, and not so small that a share
becomes infinite.
"""


class OrganizationTable(Base):
    __tablename__ = "organizations"
    __table_args__ = (
        UniqueConstraint("slug"),
        CheckConstraint(_WEIGHTS, name="share_weight"),
    )

    id: Mapped[Id]
    slug: Mapped[str]
    title: Mapped[str]
    created_at: Mapped[Now]
    share_weight: Mapped[float] = mapped_column(server_default="1")
    """An organization of weight 2 gets twice as many workers and claims as one of weight 1."""


class ProjectTable(Base):
    __tablename__ = "projects"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        UniqueConstraint("organization_id", "id"),
        CheckConstraint(_WEIGHTS, name="share_weight"),
        Index(None, "organization_id", "created_at", "id"),
        Index(
            "ix_projects_active",
            "organization_id",
            "created_at",
            "id",
            postgresql_where=text("archived_at IS NULL"),
        ),
        # An archived project's name is free again.
        Index(
            "uq_projects_active_name",
            "organization_id",
            "name",
            unique=True,
            postgresql_where=text("archived_at IS NULL"),
        ),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[Now]
    archived_at: Mapped[Timestamp | None]
    share_weight: Mapped[float] = mapped_column(server_default="1")
    """Within its organization, a project of weight 2 gets twice as many workers and claims as one
    of weight 1.
    """
    max_queued_jobs: Mapped[int | None] = mapped_column(BigInteger)
    """The project's own quota, as in the following columns; `None` means the quota of the settings.
    """
    max_running_jobs: Mapped[int | None] = mapped_column(BigInteger)
    max_queued_eval_runs: Mapped[int | None] = mapped_column(BigInteger)
    max_running_eval_runs: Mapped[int | None] = mapped_column(BigInteger)
    max_files: Mapped[int | None] = mapped_column(BigInteger)
    max_stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    max_registered_objects: Mapped[int | None] = mapped_column(BigInteger)
    max_queued_exports: Mapped[int | None] = mapped_column(BigInteger)
    max_running_exports: Mapped[int | None] = mapped_column(BigInteger)
    max_eval_output_items: Mapped[int | None] = mapped_column(BigInteger)
    max_students: Mapped[int | None] = mapped_column(BigInteger)
    max_open_coach_sessions: Mapped[int | None] = mapped_column(BigInteger)
    max_feedback: Mapped[int | None] = mapped_column(BigInteger)
