"""Names the due sessions of the Coach in fair order, and leaves the claim to the store.

Revision ID: 0041
Revises: 0040

The function returns ids and tenants and writes nothing. The API claims each session as its tenant,
so its role may raise the fence of a session, as the role of workers does for jobs.
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import APP, setting

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

# `of_project` numbers the sessions of a project and `of_organization` those of an organization; the
# numbers begin with sessions that are claimed. So a second session of either comes after the first
# of every other, and among firsts the tenant comes whose last claim is the oldest.
_DUE = """
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
    $$
"""
_CLAIM = """
    CREATE FUNCTION claim_coach_sessions(at_most bigint, lease_s double precision)
    RETURNS TABLE (id text, project_id text, fence bigint, organization_id text,
                   organization_slug text, key_id text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH due AS (
            SELECT session.project_id, session.id FROM public.coach_sessions AS session
            WHERE session.status = 'running' AND session.next_step_at <= now()
              AND (session.lease_until IS NULL OR session.lease_until < now())
            ORDER BY session.next_step_at LIMIT at_most
            FOR UPDATE SKIP LOCKED
        )
        UPDATE public.coach_sessions AS session
        SET fence = session.fence + 1, lease_until = now() + make_interval(secs => lease_s)
        FROM due WHERE session.project_id = due.project_id AND session.id = due.id
        RETURNING session.id, session.project_id, session.fence, session.organization_id,
                  session.organization_slug, session.key_id;
        PERFORM set_config('app.queue', '', true);
    END
    $$
"""


def upgrade() -> None:
    op.execute("DROP FUNCTION claim_coach_sessions(bigint, double precision)")
    op.add_column(
        "coach_sessions", sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True)
    )
    # The owner reads the rows of all tenants in the function alone, and writes none.
    op.execute("DROP POLICY queue ON coach_sessions")
    op.execute(
        "CREATE POLICY queue ON coach_sessions FOR SELECT TO CURRENT_USER "
        f"USING ({setting('queue')} = 'on')"
    )
    op.execute(f"GRANT UPDATE (fence, claimed_at) ON coach_sessions TO {APP}")
    op.execute(_DUE)
    _let_the_api_execute("due_coach_sessions(bigint)")


def downgrade() -> None:
    op.execute("DROP FUNCTION due_coach_sessions(bigint)")
    op.execute(f"REVOKE UPDATE (fence) ON coach_sessions FROM {APP}")
    op.drop_column("coach_sessions", "claimed_at")
    op.execute("DROP POLICY queue ON coach_sessions")
    op.execute(
        "CREATE POLICY queue ON coach_sessions TO CURRENT_USER "
        f"USING ({setting('queue')} = 'on') WITH CHECK ({setting('queue')} = 'on')"
    )
    op.execute(_CLAIM)
    _let_the_api_execute("claim_coach_sessions(bigint, double precision)")


def _let_the_api_execute(function: str) -> None:
    op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {APP}")
