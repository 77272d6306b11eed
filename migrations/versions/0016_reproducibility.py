"""Adds a column for the record whether a job is the same to the bit.

Revision ID: 0016
Revises: 0015
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("fine_tuning_jobs", sa.Column("reproducibility", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("fine_tuning_jobs", "reproducibility")
