"""Adds the priority of a job, which comes before its age in the order of its project's queue.

Revision ID: 0021
Revises: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_OPEN = "status IN ('validating_files', 'queued', 'running', 'pausing')"
_INDEX = "ix_fine_tuning_jobs_waiting"
_AGE = ("queued_at", "created_at", "id")
# The function of migration 0017, with the order of one project's rows as a parameter.
_QUEUE = """
    CREATE OR REPLACE FUNCTION queue_of_fine_tuning_jobs(depth bigint)
    RETURNS TABLE (project_id text, id text, running bigint, turn float8, place bigint)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        WITH RECURSIVE tenants AS (
            (SELECT job.project_id FROM public.fine_tuning_jobs AS job WHERE {open}
             ORDER BY job.project_id, {order} LIMIT 1)
            UNION ALL
            SELECT (SELECT job.project_id FROM public.fine_tuning_jobs AS job
                    WHERE {open} AND job.project_id > tenants.project_id
                    ORDER BY job.project_id, {order} LIMIT 1)
            FROM tenants WHERE tenants.project_id IS NOT NULL
        ), held AS (
            SELECT job.project_id, count(*) AS running FROM public.fine_tuning_jobs AS job
            WHERE {open} AND job.lease_until >= now() GROUP BY job.project_id
        ), shares AS (
            SELECT tenants.project_id, coalesce(held.running, 0) AS running, project.share_weight,
                   greatest(
                       (SELECT max(job.turn) FROM public.fine_tuning_jobs AS job
                        WHERE job.project_id = tenants.project_id) + 1 / project.share_weight,
                       (SELECT max(job.turn) FROM public.fine_tuning_jobs AS job),
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
                   row_number() OVER (ORDER BY {order}) AS number
            FROM public.fine_tuning_jobs AS job
            WHERE {open} AND job.project_id = shares.project_id
              AND (job.lease_until IS NULL OR job.lease_until < now())
              AND (job.not_before IS NULL OR job.not_before <= now())
            ORDER BY {order}
            LIMIT depth
        ) AS waiting
    $$
"""


def upgrade() -> None:
    column = sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False)
    op.add_column("fine_tuning_jobs", column)
    _order("project_id", sa.text("priority DESC"), *_AGE, first="job.priority DESC, ")


def downgrade() -> None:
    _order("project_id", *_AGE, first="")
    op.drop_column("fine_tuning_jobs", "priority")


def _order(*columns: str | sa.TextClause, first: str) -> None:
    age = ", ".join(f"job.{name}" for name in _AGE)
    op.drop_index(_INDEX, "fine_tuning_jobs")
    op.create_index(_INDEX, "fine_tuning_jobs", list(columns), postgresql_where=sa.text(_OPEN))
    op.execute(_QUEUE.format(open=f"job.{_OPEN}", order=first + age))
