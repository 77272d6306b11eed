"""Numbers the queue as far as the wanted jobs alone, so that a position costs what lies before it.

Revision ID: 0023
Revises: 0022
"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_IS_OPEN = "job.status IN ('validating_files', 'queued', 'running', 'pausing')"
_WAITS = """
    {open}
    AND (job.lease_until IS NULL OR job.lease_until < now())
    AND (job.not_before IS NULL OR job.not_before <= now())
"""
_ORDER = "job.priority DESC, job.queued_at, job.created_at, job.id"
# The order is that of `queue_of_fine_tuning_jobs` (migration 0021): first by the share that a
# project holds with the row, which is (running + number - 1) / weight. So rows of a project whose
# share is above that of the last wanted job come after it. One or two of them are read, because a
# quotient may be rounded.
_PLACES = """
    CREATE OR REPLACE FUNCTION queue_places(wanted text[])
    RETURNS TABLE (job_id text, place bigint, starts_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
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
        ), own AS (
            SELECT job.id, row_number() OVER (ORDER BY {order}) AS number
            FROM public.fine_tuning_jobs AS job
            WHERE {waits}
              AND job.project_id = nullif(current_setting('app.project', true), '')
        ), last AS (
            SELECT (shares.running + max(own.number) - 1) / shares.share_weight AS share
            FROM own CROSS JOIN shares
            WHERE own.id = ANY (wanted)
              AND shares.project_id = nullif(current_setting('app.project', true), '')
            GROUP BY shares.running, shares.share_weight
        ), waiting AS (
            SELECT shares.project_id, before.id,
                   row_number() OVER (
                       ORDER BY (shares.running + before.number - 1) / shares.share_weight,
                                shares.turn + (before.number - 1) / shares.share_weight,
                                before.queued_at, before.created_at, before.id) AS place
            FROM last CROSS JOIN shares CROSS JOIN LATERAL (
                SELECT job.id, job.queued_at, job.created_at,
                       row_number() OVER (ORDER BY {order}) AS number
                FROM public.fine_tuning_jobs AS job
                WHERE {waits} AND job.project_id = shares.project_id
                ORDER BY {order}
                LIMIT greatest(
                    0, floor(last.share * shares.share_weight - shares.running) + 2)::bigint
            ) AS before
        ), leaving AS (
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
_ALL_PLACES = """
    CREATE OR REPLACE FUNCTION queue_places(wanted text[])
    RETURNS TABLE (job_id text, place bigint, starts_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH waiting AS (SELECT * FROM public.queue_of_fine_tuning_jobs(NULL)), leaving AS (
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


def upgrade() -> None:
    waits = _WAITS.format(open=_IS_OPEN)
    op.execute(_PLACES.format(open=_IS_OPEN, waits=waits, order=_ORDER))


def downgrade() -> None:
    op.execute(_ALL_PLACES)
