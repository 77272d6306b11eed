"""Lets workers read the organization of the project whose work they hold.

Revision ID: 0027
Revises: 0026
"""

from alembic import op

from migrations.guards import WORKER

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The sandbox shares its places out by organization, also for evaluations.
    op.execute(f"GRANT SELECT (organization_id) ON projects TO {WORKER}")


def downgrade() -> None:
    op.execute(f"REVOKE SELECT (organization_id) ON projects FROM {WORKER}")  # noqa: S608 - constants
