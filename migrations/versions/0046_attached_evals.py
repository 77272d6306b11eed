"""Stores the evals that are attached to a job, and lets its worker start their runs.

Revision ID: 0046
Revises: 0045
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.guards import WORKER

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "fine_tuning_jobs",
        sa.Column("evals", JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )
    op.execute(f"GRANT INSERT ON eval_runs TO {WORKER}")


def downgrade() -> None:
    op.execute(f"REVOKE INSERT ON eval_runs FROM {WORKER}")
    op.drop_column("fine_tuning_jobs", "evals")
