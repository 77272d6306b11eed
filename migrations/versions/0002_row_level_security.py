"""Forces row-level security on every table, with one policy for each kind of access.

Revision ID: 0002
Revises: 0001

The roles exist already where the supervisor created them. On another database this revision creates
them without a password if the owner may, and otherwise fails with the name of the missing role.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

APP, WORKER = "agent_rft_app", "agent_rft_worker"
OF_PROJECT = (
    "files",
    "fine_tuning_jobs",
    "job_events",
    "job_metrics",
    "checkpoints",
    "tuned_models",
    "rollouts",
    "journal",
    "reports",
)
OF_ORGANIZATION = ("organizations", "projects", "api_keys")
APP_GRANTS = {
    "organizations": "SELECT, INSERT",
    "projects": "SELECT, INSERT, UPDATE",
    "api_keys": "SELECT, INSERT, UPDATE",
    "files": "SELECT, INSERT, UPDATE",
    "fine_tuning_jobs": "SELECT, INSERT, UPDATE",
    "job_events": "SELECT, INSERT",
    "job_metrics": "SELECT",
    "checkpoints": "SELECT",
    "tuned_models": "SELECT, UPDATE",
    "rollouts": "SELECT",
    "reports": "SELECT",
}
WORKER_GRANTS = {
    "organizations": "SELECT",
    "files": "SELECT",
    "fine_tuning_jobs": "SELECT, UPDATE",
    "job_events": "SELECT, INSERT",
    "job_metrics": "SELECT, INSERT, UPDATE",
    "checkpoints": "SELECT, INSERT",
    "tuned_models": "SELECT, INSERT",
    "rollouts": "SELECT, INSERT",
    "journal": "SELECT, INSERT, UPDATE, DELETE",
    "reports": "SELECT, INSERT, UPDATE",
}


def setting(name: str) -> str:
    """A transaction's setting; after a commit it reads as '', which must match nothing."""
    return f"nullif(current_setting('app.{name}', true), '')"


POLICIES = {
    "organizations": f"id = {setting('organization')} OR slug = {setting('organization_slug')}",
    "projects": f"organization_id = {setting('organization')} OR id = {setting('project')}",
    "api_keys": f"organization_id = {setting('organization')} OR key_id = {setting('key_id')}",
    **{table: f"project_id = {setting('project')}" for table in OF_PROJECT},
}
# Writing an organization, project or key takes its organization, not merely its slug or key id.
CHECKS = {
    "organizations": f"id = {setting('organization')}",
    "projects": f"organization_id = {setting('organization')}",
    "api_keys": f"organization_id = {setting('organization')}",
}
# Claiming and sweeping look across tenants; only the worker's role may, and only at this table.
SYSTEM_TABLES = ("fine_tuning_jobs",)


def upgrade() -> None:
    for role in (APP, WORKER):
        op.execute(_role(role))
        op.execute(f"GRANT USAGE ON SCHEMA public TO {role}")
    for table in (*OF_ORGANIZATION, *OF_PROJECT):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        check = CHECKS.get(table, POLICIES[table])
        op.execute(
            f"CREATE POLICY tenant ON {table} USING ({POLICIES[table]}) WITH CHECK ({check})"
        )
    for table in SYSTEM_TABLES:
        op.execute(
            f"CREATE POLICY system ON {table} TO {WORKER} USING ({setting('system')} = 'on')"
        )
    for role, grants in ((APP, APP_GRANTS), (WORKER, WORKER_GRANTS)):
        for table, rights in grants.items():
            op.execute(f"GRANT {rights} ON {table} TO {role}")


def downgrade() -> None:
    for role, grants in ((APP, APP_GRANTS), (WORKER, WORKER_GRANTS)):
        for table in grants:
            op.execute(f"REVOKE ALL ON {table} FROM {role}")
        op.execute(f"REVOKE USAGE ON SCHEMA public FROM {role}")
    for table in SYSTEM_TABLES:
        op.execute(f"DROP POLICY system ON {table}")
    for table in (*OF_PROJECT, *OF_ORGANIZATION):
        op.execute(f"DROP POLICY tenant ON {table}")
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


def _role(name: str) -> str:
    return f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN
                CREATE ROLE {name} NOLOGIN NOSUPERUSER NOBYPASSRLS;
            END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'role {name} is missing and the owner may not make it: '
                'CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS';
        END $$
    """
