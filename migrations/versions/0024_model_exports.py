"""Adds exports of models, with a queue that is as fair to projects as that of jobs.

Revision ID: 0024
Revises: 0023
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.guards import WORKER, guard

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_OPEN = "status IN ('queued', 'in_progress')"
_QUOTAS = ("max_queued_exports", "max_running_exports")
# As the functions of migration 0017, which explains the order.
_QUEUE = f"""
    CREATE FUNCTION queue_of_model_exports(depth bigint)
    RETURNS TABLE (project_id text, id text, running bigint, turn float8, place bigint)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        WITH RECURSIVE tenants AS (
            (SELECT job.project_id FROM public.model_exports AS job WHERE job.{_OPEN}
             ORDER BY job.project_id, job.queued_at, job.created_at, job.id LIMIT 1)
            UNION ALL
            SELECT (SELECT job.project_id FROM public.model_exports AS job
                    WHERE job.{_OPEN} AND job.project_id > tenants.project_id
                    ORDER BY job.project_id, job.queued_at, job.created_at, job.id LIMIT 1)
            FROM tenants WHERE tenants.project_id IS NOT NULL
        ), held AS (
            SELECT job.project_id, count(*) AS running FROM public.model_exports AS job
            WHERE job.{_OPEN} AND job.lease_until >= now() GROUP BY job.project_id
        ), shares AS (
            SELECT tenants.project_id, coalesce(held.running, 0) AS running, project.share_weight,
                   greatest(
                       (SELECT max(job.turn) FROM public.model_exports AS job
                        WHERE job.project_id = tenants.project_id) + 1 / project.share_weight,
                       (SELECT max(job.turn) FROM public.model_exports AS job),
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
            FROM public.model_exports AS job
            WHERE job.{_OPEN} AND job.project_id = shares.project_id
              AND (job.lease_until IS NULL OR job.lease_until < now())
              AND (job.not_before IS NULL OR job.not_before <= now())
            ORDER BY job.queued_at, job.created_at, job.id
            LIMIT depth
        ) AS waiting
    $$
"""  # noqa: S608 - constants


def upgrade() -> None:
    for name in _QUOTAS:
        op.add_column("projects", sa.Column(name, sa.BigInteger(), nullable=True))
    op.execute(f"GRANT SELECT ({', '.join(_QUOTAS)}) ON projects TO {WORKER}")
    _table()
    _indexes()
    guard(
        "model_exports", app="SELECT, INSERT, UPDATE", worker="SELECT, UPDATE, DELETE", system=True
    )
    op.execute(_QUEUE)
    op.execute("REVOKE ALL ON FUNCTION queue_of_model_exports(bigint) FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION queue_of_model_exports(bigint) TO {WORKER}")


def downgrade() -> None:
    op.execute("DROP FUNCTION queue_of_model_exports(bigint)")
    op.drop_table("model_exports")
    for name in _QUOTAS:
        op.drop_column("projects", name)


def _table() -> None:
    op.create_table(
        "model_exports",
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("id", "project_id", "status", "model", "base_model", "kind")
        ),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("stage", "object_key")),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("error", JSONB(), nullable=True),
        *(_moment(name, now=True) for name in ("created_at", "queued_at")),
        *(_moment(name) for name in ("started_at", "finished_at", "expires_at", "deleted_at")),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        *(_moment(name) for name in ("lease_until", "dispatched_at", "not_before")),
        sa.Column("turn", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_model_exports_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_model_exports")),
    )


def _moment(name: str, *, now: bool = False) -> sa.Column[object]:
    return sa.Column(
        name,
        sa.DateTime(timezone=True),
        server_default=sa.text("now()") if now else None,
        nullable=not now,
    )


def _indexes() -> None:
    table, is_open = "model_exports", sa.text(_OPEN)
    op.create_index(op.f(f"ix_{table}_id"), table, ["id"], unique=True)
    listed = ["project_id", "model", "created_at", "id"]
    op.create_index(op.f(f"ix_{table}_{'_'.join(listed)}"), table, listed)
    one_each = ["project_id", "model", "kind"]
    op.create_index(f"uq_{table}_open", table, one_each, unique=True, postgresql_where=is_open)
    op.create_index(f"ix_{table}_expiring", table, ["expires_at"])
    waiting = ["project_id", "queued_at", "created_at", "id"]
    op.create_index(f"ix_{table}_waiting", table, waiting, postgresql_where=is_open)
    op.create_index(f"ix_{table}_held", table, ["lease_until"], postgresql_where=is_open)
    op.create_index(f"ix_{table}_turn", table, ["turn"])
    op.create_index(op.f(f"ix_{table}_project_id_turn"), table, ["project_id", "turn"])
