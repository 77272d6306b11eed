"""Lets the tables' owner read and rewrap the sealed blobs of all tenants: `agent-rft keys rewrap`.

Row-level security is forced on the owner, too. The setting gives nothing to the roles of the API
and of the workers.

Revision ID: 0018
Revises: 0017
"""

from alembic import op

from migrations.guards import setting

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_SEALED = (
    "fine_tuning_jobs",
    "evals",
    "registered_versions",
    "webhook_endpoints",
    "stored_responses",
)


def upgrade() -> None:
    for table in _SEALED:
        op.execute(
            f"CREATE POLICY rewrap ON {table} TO CURRENT_USER USING ({setting('rewrap')} = 'on')"
        )
    op.execute(
        "CREATE POLICY rewrap ON api_keys FOR SELECT TO CURRENT_USER "
        f"USING ({setting('rewrap')} = 'on')"
    )


def downgrade() -> None:
    for table in (*_SEALED, "api_keys"):
        op.execute(f"DROP POLICY rewrap ON {table}")
