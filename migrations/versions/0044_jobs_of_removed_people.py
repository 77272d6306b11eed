"""Keeps the jobs that read files which the removal of an end user deleted.

Revision ID: 0044
Revises: 0043
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.guards import APP

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "feedback_builds",
        sa.Column("learned", JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )
    op.execute(f"GRANT UPDATE (learned) ON feedback_builds TO {APP}")


def downgrade() -> None:
    op.drop_column("feedback_builds", "learned")
