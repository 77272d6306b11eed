"""Makes the functions that order waiting jobs, eval runs and exports by their owners' shares."""

from alembic import op

from migrations.guards import APP, WORKER

_AGE = "job.queued_at, job.created_at, job.id"
# Each table with the states of its open rows, and the order of one project's rows.
QUEUES = {
    "fine_tuning_jobs": (
        "job.status IN ('validating_files', 'queued', 'running', 'pausing')",
        f"job.priority DESC, {_AGE}",
    ),
    "eval_runs": ("job.status IN ('queued', 'in_progress')", _AGE),
    "model_exports": ("job.status IN ('queued', 'in_progress')", _AGE),
}
_WAITS = """
    {open}
    AND (job.lease_until IS NULL OR job.lease_until < now())
    AND (job.not_before IS NULL OR job.not_before <= now())
"""
# The rows that each waiting project and its organization hold, and their virtual times. A virtual
# time moves by 1 / weight with every claim, and never lies before the last claim's, of all
# organizations or of the organization's projects: who was idle saves nothing up.
# `organization_virtual_times` has both times of an organization's last claim; a project's is the
# greatest `turn` of its rows. The recursion reads one index entry of each project with open rows.
_SHARES = """
    tenants AS (
        (SELECT job.project_id FROM public.{table} AS job WHERE {open}
         ORDER BY job.project_id, {order} LIMIT 1)
        UNION ALL
        SELECT (SELECT job.project_id FROM public.{table} AS job
                WHERE {open} AND job.project_id > tenants.project_id
                ORDER BY job.project_id, {order} LIMIT 1)
        FROM tenants WHERE tenants.project_id IS NOT NULL
    ), held AS (
        SELECT held.project_id, project.organization_id, held.running
        FROM (SELECT job.project_id, count(*) AS running FROM public.{table} AS job
              WHERE {open} AND job.lease_until >= now() GROUP BY job.project_id) AS held
        JOIN public.projects AS project ON project.id = held.project_id
    ), shares AS (
        SELECT tenants.project_id, project.organization_id, project.share_weight,
               coalesce(held.running, 0) AS running,
               greatest(
                   (SELECT max(job.turn) FROM public.{table} AS job
                    WHERE job.project_id = tenants.project_id) + 1 / project.share_weight,
                   last.project_virtual_time,
                   0) AS virtual_time
        FROM tenants JOIN public.projects AS project ON project.id = tenants.project_id
        LEFT JOIN held ON held.project_id = tenants.project_id
        LEFT JOIN public.organization_virtual_times AS last
               ON last.queue = '{table}' AND last.organization_id = project.organization_id
    ), organizations AS (
        SELECT organization.id, organization.share_weight,
               coalesce((SELECT sum(held.running) FROM held
                         WHERE held.organization_id = organization.id), 0)::bigint AS running,
               greatest(
                   last.virtual_time + 1 / organization.share_weight,
                   (SELECT max(every.virtual_time) FROM public.organization_virtual_times AS every
                    WHERE every.queue = '{table}'),
                   0) AS virtual_time
        FROM (SELECT DISTINCT shares.organization_id FROM shares) AS waiting
        JOIN public.organizations AS organization ON organization.id = waiting.organization_id
        LEFT JOIN public.organization_virtual_times AS last
               ON last.queue = '{table}' AND last.organization_id = organization.id
    )
"""
_ROWS = """
    SELECT job.id, job.queued_at, job.created_at, row_number() OVER (ORDER BY {order}) AS number
    FROM public.{table} AS job
    WHERE {waits} AND job.project_id = shares.project_id
    ORDER BY {order}
"""
# The order of an organization's rows, and of all rows.
_OF_PROJECTS = """
    (shares.running + entry.number - 1) / shares.share_weight,
    shares.virtual_time + (entry.number - 1) / shares.share_weight,
    entry.queued_at, entry.created_at, entry.id
"""
_OF_ORGANIZATIONS = """
    (organizations.running + entry.number - 1) / organizations.share_weight,
    organizations.virtual_time + (entry.number - 1) / organizations.share_weight,
    entry.queued_at, entry.created_at, entry.id
"""
# The order of all waiting rows, of at most `depth` rows of each project (NULL: of all rows).
_QUEUE = """
    CREATE FUNCTION queue_of_{table}(depth bigint)
    RETURNS TABLE (project_id text, id text, running bigint, virtual_time float8,
                   organization_id text, organization_running bigint, organization_share float8,
                   organization_virtual_time float8, place bigint)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        WITH RECURSIVE {shares}
        SELECT entry.project_id, entry.id, entry.running, entry.virtual_time, organizations.id,
               organizations.running, organizations.running / organizations.share_weight,
               organizations.virtual_time, row_number() OVER (ORDER BY {of_organizations})
        FROM (
            SELECT shares.project_id, shares.organization_id, shares.running, shares.virtual_time,
                   entry.id, entry.queued_at, entry.created_at,
                   row_number() OVER (
                       PARTITION BY shares.organization_id ORDER BY {of_projects}) AS number
            FROM shares CROSS JOIN LATERAL ({rows} LIMIT depth) AS entry
        ) AS entry JOIN organizations ON organizations.id = entry.organization_id
    $$
"""
# The order is that of `queue_of_fine_tuning_jobs`: first by the share that an organization holds
# with the row, then within the organization by the share that a project holds with it. So rows
# above the share of the last wanted job come after it, of its organization and of all others; of a
# project, as many rows are read as come before. One or two more, because a quotient may be rounded.
_PLACES = """
    CREATE FUNCTION queue_places(wanted text[])
    RETURNS TABLE (job_id text, place bigint, starts_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    DECLARE
        own_project text := nullif(current_setting('app.project', true), '');
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH RECURSIVE {shares}, own AS (
            SELECT job.id, row_number() OVER (ORDER BY {order}) AS number
            FROM public.{table} AS job
            WHERE {waits} AND job.project_id = own_project
        ), last AS (
            SELECT shares.organization_id,
                   (shares.running + max(own.number) - 1) / shares.share_weight AS share
            FROM own JOIN shares ON shares.project_id = own_project
            WHERE own.id = ANY (wanted)
            GROUP BY shares.organization_id, shares.running, shares.share_weight
        ), of_own AS (
            SELECT shares.organization_id, shares.project_id, entry.id, entry.queued_at,
                   entry.created_at,
                   row_number() OVER (ORDER BY {of_projects}) AS number
            FROM last JOIN shares ON shares.organization_id = last.organization_id
            CROSS JOIN LATERAL ({rows}
                LIMIT greatest(
                    0, floor(last.share * shares.share_weight - shares.running) + 2)::bigint
            ) AS entry
        ), last_of_own AS (
            SELECT organizations.id,
                   (organizations.running + max(of_own.number) - 1)
                   / organizations.share_weight AS share
            FROM of_own JOIN organizations ON organizations.id = of_own.organization_id
            WHERE of_own.id = ANY (wanted) AND of_own.project_id = own_project
            GROUP BY organizations.id, organizations.running, organizations.share_weight
        ), others AS (
            SELECT organizations.id,
                   greatest(0, floor(last_of_own.share * organizations.share_weight
                                     - organizations.running) + 2)::bigint AS most
            FROM last_of_own JOIN organizations ON organizations.id <> last_of_own.id
        ), of_others AS (
            SELECT shares.organization_id, shares.project_id, entry.id, entry.queued_at,
                   entry.created_at,
                   row_number() OVER (
                       PARTITION BY shares.organization_id ORDER BY {of_projects}) AS number,
                   others.most
            FROM others JOIN shares ON shares.organization_id = others.id
            CROSS JOIN LATERAL ({rows} LIMIT others.most) AS entry
        ), waiting AS (
            SELECT entry.project_id, entry.id,
                   row_number() OVER (ORDER BY {of_organizations}) AS place
            FROM (SELECT of_own.organization_id, of_own.project_id, of_own.id, of_own.queued_at,
                         of_own.created_at, of_own.number
                  FROM of_own
                  UNION ALL
                  SELECT of_others.organization_id, of_others.project_id, of_others.id,
                         of_others.queued_at, of_others.created_at, of_others.number
                  FROM of_others WHERE of_others.number <= of_others.most) AS entry
            JOIN organizations ON organizations.id = entry.organization_id
        ), leaving AS (
            SELECT job.estimated_finish,
                   row_number() OVER (ORDER BY job.estimated_finish) AS place
            FROM public.{table} AS job
            WHERE job.status IN ('running', 'pausing') AND job.lease_until >= now()
              AND job.estimated_finish IS NOT NULL
        )
        SELECT waiting.id, waiting.place,
               CASE WHEN leaving.estimated_finish IS NOT NULL
                    THEN greatest(leaving.estimated_finish, now()) END
        FROM waiting LEFT JOIN leaving ON leaving.place = waiting.place
        WHERE waiting.id = ANY (wanted) AND waiting.project_id = own_project;
        PERFORM set_config('app.queue', '', true);
    END
    $$
"""


def make_queues() -> None:
    for table in QUEUES:
        op.execute(_filled(_QUEUE, table))
        _only(WORKER, f"queue_of_{table}(bigint)")
    op.execute(_filled(_PLACES, "fine_tuning_jobs"))
    _only(APP, "queue_places(text[])")


def _only(role: str, function: str) -> None:
    op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {role}")


def _filled(function: str, table: str) -> str:
    is_open, order = QUEUES[table]
    names = {"table": table, "open": is_open, "order": order}
    names["waits"] = _WAITS.format(**names)
    return function.format(
        **names,
        shares=_SHARES.format(**names),
        rows=_ROWS.format(**names),
        of_projects=_OF_PROJECTS,
        of_organizations=_OF_ORGANIZATIONS,
    )
