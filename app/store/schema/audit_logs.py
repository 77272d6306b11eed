"""The audit log. Triggers of the audited tables write it; see `migrations/audited.py`."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKeyConstraint, Identity, Index, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Timestamp, of_own_project


class AuditLogTable(Base):
    __tablename__ = "audit_logs"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        of_own_project(),
        Index(None, "organization_id", "seq"),
        Index(None, "id", unique=True),
        Index("ix_audit_logs_effective_at", "effective_at", postgresql_using="brin"),
    )

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[str]
    organization_id: Mapped[str]
    project_id: Mapped[str | None]
    type: Mapped[str]
    resource_id: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    actor_kind: Mapped[str]
    actor_id: Mapped[str]
    address: Mapped[str]
    effective_at: Mapped[Timestamp] = mapped_column(server_default=func.clock_timestamp())
