"""Adds a project's own quotas of students, open Coach sessions and feedback.

Revision ID: 0048
Revises: 0047
"""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_QUOTAS = ("max_students", "max_open_coach_sessions", "max_feedback")


def upgrade() -> None:
    for name in _QUOTAS:
        op.add_column("projects", sa.Column(name, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for name in _QUOTAS:
        op.drop_column("projects", name)
