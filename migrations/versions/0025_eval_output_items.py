"""Adds the quota of the output items of eval runs.

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("projects", sa.Column("max_eval_output_items", sa.BigInteger(), nullable=True))
    op.add_column(
        "eval_runs",
        sa.Column("planned_items", sa.BigInteger(), server_default="10000", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("eval_runs", "planned_items")
    op.drop_column("projects", "max_eval_output_items")
