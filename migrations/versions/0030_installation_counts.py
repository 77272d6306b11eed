"""Counts the jobs of the installation by status, for the operator's monitoring.

Revision ID: 0030
Revises: 0029

The function runs as the tables' owner, as `queue_places` does, and returns nothing but counts.
"""

from alembic import op

from migrations.guards import APP

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_COUNTS = """
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
    $$
"""


def upgrade() -> None:
    op.execute(_COUNTS)
    op.execute("REVOKE ALL ON FUNCTION installation_counts() FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION installation_counts() TO {APP}")


def downgrade() -> None:
    op.execute("DROP FUNCTION installation_counts()")
