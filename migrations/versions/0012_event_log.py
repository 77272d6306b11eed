"""Adds the log of committed events, its cursors, and the time of each webhook subscription.

The log's reader in the worker makes webhook deliveries from now on; the API's role loses the right.

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.guards import APP, guard

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# Only the sequencer sets a position: one that is taken would stop it for all tenants. The server
# sets the number and the time of a row.
WRITTEN = "id, project_id, type, subject, data"
SUBSCRIBED_FOREVER = """
    UPDATE webhook_endpoints SET subscribed_at =
        (SELECT coalesce(jsonb_object_agg(type, 0), '{}') FROM unnest(event_types) AS type)
"""


def upgrade() -> None:
    _log()
    _cursors()
    _subscriptions()
    for table in ("webhook_events", "webhook_deliveries"):
        op.execute(f"REVOKE INSERT ON {table} FROM {APP}")


def downgrade() -> None:
    for table in ("webhook_events", "webhook_deliveries"):
        op.execute(f"GRANT INSERT ON {table} TO {APP}")
    op.drop_column("webhook_endpoints", "subscribed_at")
    op.drop_table("event_cursors")
    op.drop_table("event_log")


def _log() -> None:
    op.create_table(
        "event_log",
        sa.Column("seq", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "project_id")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("type", "subject")),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_event_log_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_event_log")),
    )
    op.create_index(
        "ix_event_log_position",
        "event_log",
        ["position"],
        unique=True,
        postgresql_where="position IS NOT NULL",
    )
    op.create_index(
        "ix_event_log_unsequenced", "event_log", ["seq"], postgresql_where="position IS NULL"
    )
    guard(
        "event_log",
        app=f"INSERT ({WRITTEN})",
        worker=f"SELECT, INSERT ({WRITTEN}), UPDATE (position), DELETE",
        system=True,
    )


def _cursors() -> None:
    op.create_table(
        "event_cursors",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("consumer", "scope")),
        *(
            sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
            for name in ("position", "fence")
        ),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("consumer", "scope", name=op.f("pk_event_cursors")),
    )
    # No tenant's table: only the worker's role, and only across tenants, sees a row.
    guard("event_cursors", worker="SELECT, INSERT, UPDATE", policy="false", system=True)


def _subscriptions() -> None:
    """The owner is bound by row-level security too, which is lifted for the one statement."""
    op.add_column(
        "webhook_endpoints",
        sa.Column("subscribed_at", postgresql.JSONB(), server_default="{}", nullable=False),
    )
    op.alter_column("webhook_endpoints", "subscribed_at", server_default=None)
    op.execute("ALTER TABLE webhook_endpoints NO FORCE ROW LEVEL SECURITY")
    op.execute(SUBSCRIBED_FOREVER)
    op.execute("ALTER TABLE webhook_endpoints FORCE ROW LEVEL SECURITY")
