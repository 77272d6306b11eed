-- Functions beside those of the queues and of the curves. They come before the tables: an index
-- computes `rollout_tools`.

-- The job is part of each key, so that a tool of one job is found without those of all others. A
-- model may invent a name of any length, and an index has a limit: the first letters decide.
CREATE FUNCTION rollout_tools(job_id text, trace jsonb) RETURNS text[]
        LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
        AS $$
            SELECT coalesce(array_agg(DISTINCT job_id || ' ' || left(name #>> '{}', 200)), '{}')
            FROM jsonb_path_query(trace, '$.turns[*].tool_calls[*].name') AS name
        $$;

CREATE FUNCTION installation_counts()
    RETURNS TABLE (status text, jobs bigint, oldest_s double precision)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        SELECT job.status, count(*),
               extract(epoch FROM now() - min(coalesce(job.queued_at, job.created_at)))::float8
        FROM public.fine_tuning_jobs AS job WHERE job.deleted_at IS NULL
        GROUP BY job.status;
        PERFORM set_config('app.queue', '', true);
    END
    $$;
REVOKE ALL ON FUNCTION installation_counts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION installation_counts() TO agent_rft_app;

-- `of_project` numbers the sessions of a project and `of_organization` those of an organization; the
-- numbers begin with sessions that are claimed. So a second session of either comes after the first
-- of every other, and among firsts the tenant comes whose last claim is the oldest.
CREATE FUNCTION due_coach_sessions(at_most bigint)
    RETURNS TABLE (id text, project_id text, organization_id text, organization_slug text,
                   key_id text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH running AS (
            SELECT session.id, session.project_id, session.organization_id,
                   session.organization_slug, session.key_id, session.next_step_at,
                   session.lease_until >= now() IS TRUE AS held,
                   max(session.claimed_at) OVER (PARTITION BY session.project_id)
                       AS project_claimed_at,
                   max(session.claimed_at) OVER (PARTITION BY session.organization_id)
                       AS organization_claimed_at
            FROM public.coach_sessions AS session WHERE session.status = 'running'
        ), numbered AS (
            SELECT running.*,
                   row_number() OVER (PARTITION BY running.project_id
                                      ORDER BY held DESC, next_step_at, running.id) AS of_project
            FROM running WHERE held OR next_step_at <= now()
        ), placed AS (
            SELECT numbered.*,
                   row_number() OVER (PARTITION BY numbered.organization_id
                                      ORDER BY held DESC, of_project,
                                               project_claimed_at NULLS FIRST, next_step_at,
                                               numbered.id) AS of_organization
            FROM numbered
        )
        SELECT placed.id, placed.project_id, placed.organization_id, placed.organization_slug,
               placed.key_id
        FROM placed WHERE NOT held
        ORDER BY of_organization, organization_claimed_at NULLS FIRST, next_step_at, placed.id
        LIMIT at_most;
        PERFORM set_config('app.queue', '', true);
    END
    $$;
REVOKE ALL ON FUNCTION due_coach_sessions(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_coach_sessions(bigint) TO agent_rft_app;
