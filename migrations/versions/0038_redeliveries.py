"""Lets the API begin an ended webhook delivery anew.

Revision ID: 0038
Revises: 0035
"""

from alembic import op

from migrations.guards import APP

revision = "0038"
down_revision = "0035"
branch_labels = None
depends_on = None
_COLUMNS = "status, attempts, next_attempt_at, finished_at"


def upgrade() -> None:
    op.execute(f"GRANT UPDATE ({_COLUMNS}) ON webhook_deliveries TO {APP}")


def downgrade() -> None:
    op.execute(f"REVOKE UPDATE ({_COLUMNS}) ON webhook_deliveries FROM {APP}")
