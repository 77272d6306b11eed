"""Adds the indexes by which a claim finds each endpoint's next deliveries in a long backlog.

Revision ID: 0045
Revises: 0044
"""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_TABLE = "webhook_deliveries"


def upgrade() -> None:
    op.create_index(
        "ix_webhook_deliveries_next",
        _TABLE,
        ["project_id", "endpoint_id", "next_attempt_at", "id"],
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_webhook_deliveries_held",
        _TABLE,
        ["lease_until"],
        postgresql_where=sa.text("status = 'pending' AND lease_until IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_webhook_deliveries_held", _TABLE)
    op.drop_index("ix_webhook_deliveries_next", _TABLE)
