"""The log of committed events, and the cursors of its consumers."""

from typing import Any

from sqlalchemy import BigInteger, Identity, Index, PrimaryKeyConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Timestamp, of_project
from app.store.schema.leases import FencedRow


class EventLogTable(Base):
    __tablename__ = "event_log"
    __table_args__ = (
        of_project(),
        Index(
            "ix_event_log_position",
            "position",
            unique=True,
            postgresql_where="position IS NOT NULL",
        ),
        Index("ix_event_log_unsequenced", "seq", postgresql_where="position IS NULL"),
    )

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    """Order of writing. Transactions commit in another order, so a cursor must not use it."""
    id: Mapped[str]
    project_id: Mapped[str]
    type: Mapped[str]
    subject: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[Timestamp] = mapped_column(server_default=func.clock_timestamp())
    position: Mapped[int | None] = mapped_column(BigInteger)
    """The sequencer assigns it once the row is committed."""


class EventCursorTable(FencedRow, Base):
    __tablename__ = "event_cursors"
    __table_args__ = (PrimaryKeyConstraint("consumer", "scope"),)

    consumer: Mapped[str]
    scope: Mapped[str]
    """Id of the project or of the job whose events are read, or `*` for the events of all projects.
    """
    position: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """The last event that the consumer has handled."""
