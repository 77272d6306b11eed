"""Adds sessions of the dashboard.

Revision ID: 0026
Revises: 0025
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import OF_PROJECT, guard, setting

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "dashboard_sessions",
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("id", "kind", "project_id", "key_id")
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('session', 'link')", name=op.f("ck_dashboard_sessions_kind")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_dashboard_sessions_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dashboard_sessions")),
    )
    for column in ("project_id", "expires_at"):
        op.create_index(op.f(f"ix_dashboard_sessions_{column}"), "dashboard_sessions", [column])
    # A visitor is looked up by the hash of their cookie, before their project is known.
    guard(
        "dashboard_sessions",
        app="SELECT, INSERT, DELETE",
        worker="SELECT, DELETE",
        policy=f"{OF_PROJECT} OR id = {setting('dashboard_session')}",
        check=OF_PROJECT,
        system=True,
    )


def downgrade() -> None:
    op.drop_table("dashboard_sessions")
