"""Adds the columns of fair claims and quotas, and the one order in which rows are claimed.

Revision ID: 0017
Revises: 0016
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import APP, WORKER, setting

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

OPEN = {
    "fine_tuning_jobs": "status IN ('validating_files', 'queued', 'running', 'pausing')",
    "eval_runs": "status IN ('queued', 'in_progress')",
}
QUOTAS = (
    "max_queued_jobs",
    "max_running_jobs",
    "max_queued_eval_runs",
    "max_running_eval_runs",
    "max_files",
    "max_stored_bytes",
    "max_registered_objects",
)
# The order of all waiting rows, of at most `depth` rows of each project (NULL: of all rows). The
# claim takes the first row, and `queue_places` numbers them. First comes the project that runs
# least for its weight, then the one of the least `turn`. A project's `turn` is a virtual time that
# moves by 1 / weight with every claim, and never lies before the last claim's: a project that was
# idle saves nothing up. The recursion reads one index entry of each project with open rows.
QUEUE = """
    CREATE FUNCTION queue_of_{table}(depth bigint)
    RETURNS TABLE (project_id text, id text, running bigint, turn float8, place bigint)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        WITH RECURSIVE tenants AS (
            (SELECT job.project_id FROM public.{table} AS job WHERE {open}
             ORDER BY job.project_id, job.queued_at, job.created_at, job.id LIMIT 1)
            UNION ALL
            SELECT (SELECT job.project_id FROM public.{table} AS job
                    WHERE {open} AND job.project_id > tenants.project_id
                    ORDER BY job.project_id, job.queued_at, job.created_at, job.id LIMIT 1)
            FROM tenants WHERE tenants.project_id IS NOT NULL
        ), held AS (
            SELECT job.project_id, count(*) AS running FROM public.{table} AS job
            WHERE {open} AND job.lease_until >= now() GROUP BY job.project_id
        ), shares AS (
            SELECT tenants.project_id, coalesce(held.running, 0) AS running, project.share_weight,
                   greatest(
                       (SELECT max(job.turn) FROM public.{table} AS job
                        WHERE job.project_id = tenants.project_id) + 1 / project.share_weight,
                       (SELECT max(job.turn) FROM public.{table} AS job),
                       0) AS turn
            FROM tenants JOIN public.projects AS project ON project.id = tenants.project_id
            LEFT JOIN held ON held.project_id = tenants.project_id
        )
        SELECT shares.project_id, waiting.id, shares.running, shares.turn,
               row_number() OVER (
                   ORDER BY (shares.running + waiting.number - 1) / shares.share_weight,
                            shares.turn + (waiting.number - 1) / shares.share_weight,
                            waiting.queued_at, waiting.created_at, waiting.id)
        FROM shares CROSS JOIN LATERAL (
            SELECT job.id, job.queued_at, job.created_at,
                   row_number() OVER (ORDER BY job.queued_at, job.created_at, job.id) AS number
            FROM public.{table} AS job
            WHERE {open} AND job.project_id = shares.project_id
              AND (job.lease_until IS NULL OR job.lease_until < now())
              AND (job.not_before IS NULL OR job.not_before <= now())
            ORDER BY job.queued_at, job.created_at, job.id
            LIMIT depth
        ) AS waiting
    $$
"""
QUEUE_PLACES = """
    CREATE OR REPLACE FUNCTION queue_places(wanted text[])
    RETURNS TABLE (job_id text, place bigint, starts_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH waiting AS ({waiting}), leaving AS (
            SELECT job.estimated_finish,
                   row_number() OVER (ORDER BY job.estimated_finish) AS place
            FROM public.fine_tuning_jobs AS job
            WHERE job.status IN ('running', 'pausing') AND job.lease_until >= now()
              AND job.estimated_finish IS NOT NULL
        )
        SELECT waiting.id, waiting.place,
               CASE WHEN leaving.estimated_finish IS NOT NULL
                    THEN greatest(leaving.estimated_finish, now()) END
        FROM waiting LEFT JOIN leaving ON leaving.place = waiting.place
        WHERE waiting.id = ANY (wanted)
          AND waiting.project_id = nullif(current_setting('app.project', true), '');
        PERFORM set_config('app.queue', '', true);
    END
    $$
"""
FAIR = "SELECT * FROM public.queue_of_fine_tuning_jobs(NULL)"
FIRST_COME = """
    SELECT job.id, job.project_id,
           row_number() OVER (ORDER BY job.queued_at, job.created_at, job.id) AS place
    FROM public.fine_tuning_jobs AS job
    WHERE job.status IN ('validating_files', 'queued', 'running', 'pausing')
      AND (job.lease_until IS NULL OR job.lease_until < now())
"""
_READ = f"id, share_weight, {', '.join(QUOTAS)}"


def upgrade() -> None:
    _columns()
    op.execute(
        f"CREATE POLICY queue ON projects FOR SELECT TO CURRENT_USER "
        f"USING ({setting('queue')} = 'on')"
    )
    op.execute(
        f"CREATE POLICY system ON projects FOR SELECT TO {WORKER} "
        f"USING ({setting('system')} = 'on')"
    )
    op.execute(f"GRANT SELECT ({_READ}) ON projects TO {WORKER}")
    # The operator sets these, not the administrator of an organization.
    op.execute(f"REVOKE INSERT, UPDATE ON projects FROM {APP}")
    op.execute(f"GRANT INSERT (id, organization_id, name, created_at) ON projects TO {APP}")
    op.execute(f"GRANT UPDATE (name, archived_at) ON projects TO {APP}")
    for table, is_open in OPEN.items():
        op.execute(QUEUE.format(table=table, open=f"job.{is_open}"))
        op.execute(f"REVOKE ALL ON FUNCTION queue_of_{table}(bigint) FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION queue_of_{table}(bigint) TO {WORKER}")
    op.execute(QUEUE_PLACES.format(waiting=FAIR))


def downgrade() -> None:
    op.execute(QUEUE_PLACES.format(waiting=FIRST_COME))
    for table in OPEN:
        op.execute(f"DROP FUNCTION queue_of_{table}(bigint)")
    op.execute(f"GRANT INSERT, UPDATE ON projects TO {APP}")
    op.execute(f"REVOKE ALL ON projects FROM {WORKER}")
    op.execute("DROP POLICY system ON projects")
    op.execute("DROP POLICY queue ON projects")
    for table in OPEN:
        for index in ("waiting", "held", "turn"):
            op.drop_index(f"ix_{table}_{index}", table)
        op.drop_index(op.f(f"ix_{table}_project_id_turn"), table)
        op.drop_column(table, "turn")
        op.drop_column(table, "not_before")
    op.drop_column("eval_runs", "queued_at")
    op.drop_column("fine_tuning_jobs", "put_backs")
    for name in ("share_weight", *QUOTAS):
        op.drop_column("projects", name)


def _columns() -> None:
    weight = sa.Column("share_weight", sa.Float(), server_default="1", nullable=False)
    op.add_column("projects", weight)
    op.create_check_constraint(op.f("ck_projects_share_weight"), "projects", "share_weight > 0")
    for name in QUOTAS:
        op.add_column("projects", sa.Column(name, sa.BigInteger(), nullable=True))
    moment = sa.DateTime(timezone=True)
    op.add_column(
        "eval_runs",
        sa.Column("queued_at", moment, server_default=sa.text("now()"), nullable=False),
    )
    op.add_column(
        "fine_tuning_jobs",
        sa.Column("put_backs", sa.Integer(), server_default="0", nullable=False),
    )
    for table, is_open in OPEN.items():
        op.add_column(table, sa.Column("turn", sa.Float(), nullable=True))
        op.add_column(table, sa.Column("not_before", moment, nullable=True))
        waiting = ["project_id", "queued_at", "created_at", "id"]
        op.create_index(f"ix_{table}_waiting", table, waiting, postgresql_where=sa.text(is_open))
        op.create_index(
            f"ix_{table}_held", table, ["lease_until"], postgresql_where=sa.text(is_open)
        )
        op.create_index(f"ix_{table}_turn", table, ["turn"])
        op.create_index(op.f(f"ix_{table}_project_id_turn"), table, ["project_id", "turn"])
