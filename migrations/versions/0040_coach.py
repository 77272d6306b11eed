"""Adds sessions of the Coach with their logbooks, and the claim of those that are due.

Revision ID: 0040
Revises: 0039

The API takes the steps of sessions, each as the session's tenant. Its role sees no other tenants'
rows, so the claim is a function that runs as the tables' owner, as `queue_places` does. It returns
the ids and the tenants of the claimed rows, and nothing that they contain.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.audited import AuditedChange, audit, stop_audit
from migrations.guards import APP, guard, setting

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_SESSION = "'coach_session'"
AUDITED = (
    AuditedChange(
        *("coach_sessions", "created", "INSERT", _SESSION),
        details="jsonb_build_object('student', {row}.student)",
    ),
    AuditedChange(
        *("coach_sessions", "updated", "UPDATE OF status", _SESSION),
        when="NEW.status IS DISTINCT FROM OLD.status",
        details="jsonb_build_object('status', {row}.status)",
    ),
)
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
    _sessions()
    _entries()
    for change in AUDITED:
        audit(change)
    # The owner is forced under row-level security too, and may claim in the function alone.
    op.execute(
        "CREATE POLICY queue ON coach_sessions TO CURRENT_USER "
        f"USING ({setting('queue')} = 'on') WITH CHECK ({setting('queue')} = 'on')"
    )
    op.execute(_CLAIM)
    name = "claim_coach_sessions(bigint, double precision)"
    op.execute(f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {name} TO {APP}")


def downgrade() -> None:
    op.execute("DROP FUNCTION claim_coach_sessions(bigint, double precision)")
    for change in AUDITED:
        stop_audit(change)
    op.drop_table("coach_entries")
    op.drop_table("coach_sessions")


def _sessions() -> None:
    op.create_table(
        "coach_sessions",
        *_texts("id", "project_id", "organization_id", "organization_slug", "key_id"),
        *_texts("student", "status", "training_file", "validation_file"),
        *_texts("outcome", "reason", nullable=True),
        *(sa.Column(name, JSONB(), nullable=False) for name in ("options", "method", "progress")),
        sa.Column("metadata", JSONB(), nullable=True),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        *(_time(name, nullable=True) for name in ("lease_until", "finished_at")),
        *(_time(name, nullable=False) for name in ("next_step_at", "created_at")),
        sa.ForeignKeyConstraint(
            ["project_id", "student"],
            ["students.project_id", "students.name"],
            name=op.f("fk_coach_sessions_project_id_student_students"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_coach_sessions")),
    )
    columns = ["project_id", "created_at", "id"]
    op.create_index(op.f(f"ix_coach_sessions_{'_'.join(columns)}"), "coach_sessions", columns)
    op.create_index(
        "uq_coach_sessions_open",
        "coach_sessions",
        ["project_id", "student"],
        unique=True,
        postgresql_where=sa.text("status IN ('running', 'paused')"),
    )
    op.create_index(
        "ix_coach_sessions_due",
        "coach_sessions",
        ["next_step_at"],
        postgresql_where=sa.text("status = 'running'"),
    )
    written = "status, progress, outcome, reason, lease_until, next_step_at, finished_at"
    guard("coach_sessions", app=f"SELECT, INSERT, DELETE, UPDATE ({written})")


def _entries() -> None:
    op.create_table(
        "coach_entries",
        *_texts("project_id", "session_id", "kind", "text"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", JSONB(), nullable=False),
        _time("created_at", nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "session_id"],
            ["coach_sessions.project_id", "coach_sessions.id"],
            name=op.f("fk_coach_entries_project_id_session_id_coach_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "session_id", "number", name=op.f("pk_coach_entries")
        ),
    )
    guard("coach_entries", app="SELECT, INSERT")


def _texts(*names: str, nullable: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _time(name: str, *, nullable: bool) -> sa.Column[object]:
    default = None if nullable else sa.func.now()
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)
