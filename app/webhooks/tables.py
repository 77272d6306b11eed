"""Webhook endpoints, events, and one delivery for each endpoint that subscribes to an event."""

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.leases import LeasedRow
from app.kit.sql import Base, Now, Timestamp, of_project


class WebhookEndpointTable(Base):
    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "created_at", "id"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    name: Mapped[str]
    url: Mapped[str]
    """The shown form; the whole URL is sealed."""
    event_types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    subscribed_at: Mapped[dict[str, float]] = mapped_column(JSONB)
    """Unix seconds by event type: events before that moment are not sent."""
    secrets: Mapped[bytes]
    """All secrets that still sign and the whole URL, sealed for this row."""
    secret_hint: Mapped[str]
    created_at: Mapped[Now]
    updated_at: Mapped[Now]
    disabled_at: Mapped[Timestamp | None]
    last_failed_at: Mapped[Timestamp | None]


class WebhookEventTable(Base):
    __tablename__ = "webhook_events"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "created_at"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    type: Mapped[str]
    subject: Mapped[str]
    created_at: Mapped[Now]


class WebhookDeliveryTable(LeasedRow, Base):
    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "endpoint_id"],
            ["webhook_endpoints.project_id", "webhook_endpoints.id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["project_id", "event_id"],
            ["webhook_events.project_id", "webhook_events.id"],
            ondelete="CASCADE",
        ),
        Index(None, "project_id", "event_id", "endpoint_id", unique=True),
        Index(None, "project_id", "endpoint_id", "created_at", "id"),
        Index(
            "ix_webhook_deliveries_due", "next_attempt_at", postgresql_where="status = 'pending'"
        ),
        Index(
            "ix_webhook_deliveries_next",
            "project_id",
            "endpoint_id",
            "next_attempt_at",
            "id",
            postgresql_where="status = 'pending'",
        ),
        Index(
            "ix_webhook_deliveries_held",
            "lease_until",
            postgresql_where="status = 'pending' AND lease_until IS NOT NULL",
        ),
    )

    endpoint_id: Mapped[str]
    event_id: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default="0")
    last_status_code: Mapped[int | None]
    last_error: Mapped[str | None]
    next_attempt_at: Mapped[Now]
    finished_at: Mapped[Timestamp | None]
