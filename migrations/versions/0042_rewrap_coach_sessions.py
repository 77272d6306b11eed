"""Lets `agent-rft keys rewrap` see the sealed secrets of sessions of the Coach.

Revision ID: 0042
Revises: 0041
"""

from alembic import op

from migrations.guards import setting

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        f"CREATE POLICY rewrap ON coach_sessions TO CURRENT_USER USING ({setting('rewrap')} = 'on')"
    )


def downgrade() -> None:
    op.execute("DROP POLICY rewrap ON coach_sessions")
