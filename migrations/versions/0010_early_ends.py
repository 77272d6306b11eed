"""Adds columns for the checkpoints that a run retains, and for the reason of an early end.

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("fine_tuning_jobs", sa.Column("kept_checkpoints", JSONB(), nullable=True))
    op.add_column("fine_tuning_jobs", sa.Column("ended_early", JSONB(), nullable=True))


def downgrade() -> None:
    for column in ("ended_early", "kept_checkpoints"):
        op.drop_column("fine_tuning_jobs", column)
