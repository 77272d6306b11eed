"""Sessions of the Coach, and their logbooks."""

from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.leases import LeasedRow
from app.kit.sql import Base, JsonColumn, Now, Timestamp

OPEN = "status IN ('running', 'paused')"


class CoachSessionTable(LeasedRow, Base):
    __tablename__ = "coach_sessions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "student"], ["students.project_id", "students.name"], ondelete="CASCADE"
        ),
        Index(None, "project_id", "created_at", "id"),
        # One session at a time teaches a student.
        Index(
            "uq_coach_sessions_open", "project_id", "student", unique=True, postgresql_where=OPEN
        ),
        Index("ix_coach_sessions_due", "next_step_at", postgresql_where="status = 'running'"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    organization_id: Mapped[str]
    organization_slug: Mapped[str]
    key_id: Mapped[str]
    """The key that made the session; its jobs are made for it."""
    student: Mapped[str]
    status: Mapped[str]
    options: Mapped[JsonColumn]
    training_file: Mapped[str]
    validation_file: Mapped[str]
    method: Mapped[JsonColumn]
    secrets: Mapped[bytes | None]
    # "metadata" is reserved on mapped classes.
    labels: Mapped[dict[str, str] | None] = mapped_column("metadata", JSONB(none_as_null=True))
    progress: Mapped[JsonColumn]
    outcome: Mapped[str | None]
    reason: Mapped[str | None]
    next_step_at: Mapped[Now]
    claimed_at: Mapped[Timestamp | None]
    """Time of the last claim; claims alternate by it."""
    finished_at: Mapped[Timestamp | None]


class CoachEntryTable(Base):
    __tablename__ = "coach_entries"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "session_id", "number"),
        ForeignKeyConstraint(
            ["project_id", "session_id"],
            ["coach_sessions.project_id", "coach_sessions.id"],
            ondelete="CASCADE",
        ),
    )

    project_id: Mapped[str]
    session_id: Mapped[str]
    number: Mapped[int]
    kind: Mapped[str]
    text: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[Now]
