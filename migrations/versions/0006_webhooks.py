"""Adds webhook endpoints, events and deliveries.

Revision ID: 0006
Revises: 0005
"""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.guards import guard

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _endpoints()
    _events()
    _deliveries()


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhook_events")
    op.drop_table("webhook_endpoints")


def _endpoints() -> None:
    op.create_table(
        "webhook_endpoints",
        *(_text(name) for name in ("id", "project_id", "name", "url")),
        sa.Column("event_types", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("secrets", sa.LargeBinary(), nullable=False),
        _text("secret_hint"),
        *(_now(name) for name in ("created_at", "updated_at")),
        *(_moment(name) for name in ("disabled_at", "last_failed_at")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_webhook_endpoints_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_webhook_endpoints")),
    )
    columns = ["project_id", "created_at", "id"]
    op.create_index(
        op.f("ix_webhook_endpoints_project_id_created_at_id"), "webhook_endpoints", columns
    )
    # The worker disables an endpoint that is gone, and keeps one from going while it writes for it.
    guard("webhook_endpoints", app="SELECT, INSERT, UPDATE, DELETE", worker="SELECT, UPDATE")


def _events() -> None:
    op.create_table(
        "webhook_events",
        *(_text(name) for name in ("id", "project_id", "type", "subject")),
        _now("created_at"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_webhook_events_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_webhook_events")),
    )
    op.create_index(op.f("ix_webhook_events_created_at"), "webhook_events", ["created_at"])
    guard("webhook_events", app="SELECT, INSERT", worker="SELECT, INSERT, DELETE", system=True)


def _deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        *(_text(name) for name in ("id", "project_id", "endpoint_id", "event_id")),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_status_code", sa.Integer(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        *(_now(name) for name in ("next_attempt_at", "created_at")),
        _moment("finished_at"),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        _moment("lease_until"),
        *(_parent(one) for one in ("endpoint", "event")),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_webhook_deliveries")),
    )
    op.create_index(
        op.f("ix_webhook_deliveries_project_id_event_id_endpoint_id"),
        "webhook_deliveries",
        ["project_id", "event_id", "endpoint_id"],
        unique=True,
    )
    op.create_index(
        op.f("ix_webhook_deliveries_project_id_endpoint_id_created_at_id"),
        "webhook_deliveries",
        ["project_id", "endpoint_id", "created_at", "id"],
    )
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["next_attempt_at"],
        postgresql_where="status = 'pending'",
    )
    guard("webhook_deliveries", app="SELECT, INSERT", worker="SELECT, INSERT, UPDATE", system=True)


def _parent(noun: str) -> sa.ForeignKeyConstraint:
    table = f"webhook_{noun}s"
    return sa.ForeignKeyConstraint(
        ["project_id", f"{noun}_id"],
        [f"{table}.project_id", f"{table}.id"],
        name=op.f(f"fk_webhook_deliveries_project_id_{noun}_id_{table}"),
        ondelete="CASCADE",
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _now(name: str) -> sa.Column[datetime]:
    return sa.Column(
        name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
    )


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=True)
