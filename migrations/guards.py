"""Sets row-level security and the rights of both roles on a table."""

from alembic import op

APP = "agent_rft_app"
WORKER = "agent_rft_worker"


def setting(name: str) -> str:
    """Returns SQL for a transaction's setting; after a commit it is '', which must match no row."""
    return f"nullif(current_setting('app.{name}', true), '')"


OF_PROJECT = f"project_id = {setting('project')}"


def guard(
    table: str,
    *,
    app: str = "",
    worker: str = "",
    policy: str = OF_PROJECT,
    check: str | None = None,
    system: bool = False,
) -> None:
    """Forces row-level security and grants rights, e.g. `app="SELECT, INSERT"`.

    `system` lets the worker's role read across tenants while `app.system` is on.
    """
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    written = policy if check is None else check
    op.execute(f"CREATE POLICY tenant ON {table} USING ({policy}) WITH CHECK ({written})")
    if system:
        op.execute(
            f"CREATE POLICY system ON {table} TO {WORKER} USING ({setting('system')} = 'on')"
        )
    for role, rights in ((APP, app), (WORKER, worker)):
        if rights:
            op.execute(f"GRANT {rights} ON {table} TO {role}")
