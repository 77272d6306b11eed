"""Adds caps and usage of jobs, their queue position, and the right of a run to write files.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.guards import APP, WORKER, setting

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# The API's role sees one project's jobs, and the queue is everybody's. This function alone looks
# across, as the tables' owner and only while it runs; it returns rows of the caller's own project
# only, and numbers only.
QUEUE_PLACES = """
    CREATE FUNCTION queue_places(wanted text[])
    RETURNS TABLE (job_id text, place bigint, starts_at timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        PERFORM set_config('app.queue', 'on', true);
        RETURN QUERY
        WITH waiting AS (
            SELECT job.id, job.project_id,
                   row_number() OVER (ORDER BY job.queued_at, job.created_at, job.id) AS place
            FROM public.fine_tuning_jobs AS job
            WHERE job.status IN ('validating_files', 'queued', 'running', 'pausing')
              AND (job.lease_until IS NULL OR job.lease_until < now())
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


def upgrade() -> None:
    op.add_column("fine_tuning_jobs", sa.Column("max_training_time_s", sa.Float(), nullable=True))
    op.add_column("fine_tuning_jobs", sa.Column("max_rollouts", sa.BigInteger(), nullable=True))
    op.add_column("fine_tuning_jobs", sa.Column("usage", JSONB()))
    op.add_column(
        "fine_tuning_jobs",
        sa.Column(
            "queued_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
    )
    op.alter_column("fine_tuning_jobs", "validation_file", nullable=True)
    op.execute(
        "CREATE POLICY queue ON fine_tuning_jobs FOR SELECT TO CURRENT_USER "
        f"USING ({setting('queue')} = 'on')"
    )
    op.execute(QUEUE_PLACES)
    op.execute("REVOKE ALL ON FUNCTION queue_places(text[]) FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION queue_places(text[]) TO {APP}")
    op.execute(f"GRANT INSERT ON files TO {WORKER}")


def downgrade() -> None:
    op.execute(f"REVOKE INSERT ON files FROM {WORKER}")
    op.execute("DROP FUNCTION queue_places(text[])")
    op.execute("DROP POLICY queue ON fine_tuning_jobs")
    # Not an UPDATE: row-level security would hide every row from it.
    op.execute(
        "ALTER TABLE fine_tuning_jobs ALTER COLUMN validation_file "
        "TYPE text USING coalesce(validation_file, '')"
    )
    op.alter_column("fine_tuning_jobs", "validation_file", nullable=False)
    for column in ("queued_at", "usage", "max_rollouts", "max_training_time_s"):
        op.drop_column("fine_tuning_jobs", column)
