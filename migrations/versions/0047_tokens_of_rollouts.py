"""Stores the sampled tokens of a rollout with their log-probs.

Rollouts that were written before have none.

Revision ID: 0047
Revises: 0046
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rollouts", sa.Column("tokens", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("rollouts", "tokens")
