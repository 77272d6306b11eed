"""Adds stored chat completions, feedback about answers, and the builds of files from it.

Revision ID: 0034
Revises: 0032
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from migrations.audited import AuditedChange, audit, stop_audit
from migrations.guards import guard

revision = "0034"
down_revision = "0032"
branch_labels = None
depends_on = None

AUDITED = (
    AuditedChange(
        *("stored_completions", "updated", "UPDATE OF metadata", "'chat.completion'"),
        when="NEW.metadata IS DISTINCT FROM OLD.metadata",
    ),
    AuditedChange("stored_completions", "deleted", "DELETE", "'chat.completion'"),
    AuditedChange(
        *("feedback", "created", "INSERT", "'feedback'"),
        details="jsonb_build_object('type', {row}.type)",
    ),
    AuditedChange("feedback", "deleted", "DELETE", "'feedback'"),
    AuditedChange("feedback_builds", "created", "INSERT", "'feedback.build'"),
)
_AGED = "SELECT (project_id, id, created_at), DELETE"


def upgrade() -> None:
    _stored_completions()
    _feedback()
    _feedback_builds()
    for change in AUDITED:
        audit(change)


def downgrade() -> None:
    for change in AUDITED:
        stop_audit(change)
    for table in ("feedback_builds", "feedback", "stored_completions"):
        op.drop_table(table)


def _stored_completions() -> None:
    table = "stored_completions"
    op.create_table(
        table,
        *_texts("id", "project_id", "model"),
        *_texts("end_user", nullable=True),
        sa.Column("metadata", JSONB(), nullable=True),
        sa.Column("request", JSONB(), nullable=False),
        sa.Column("reply", JSONB(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        *_end_of(table),
    )
    _index(table, "project_id", "created_at", "id")
    _index(table, "project_id", "end_user")
    _index(table, "created_at")
    guard(table, app="SELECT, INSERT, UPDATE (metadata), DELETE", worker=_AGED, system=True)


def _feedback() -> None:
    table = "feedback"
    targets = (
        ("completion_id", "stored_completions"),
        ("rejected_completion_id", "stored_completions"),
        ("rollout_id", "rollouts"),
    )
    op.create_table(
        table,
        *_texts("id", "project_id", "type"),
        *_texts("author", "end_user", "comment", nullable=True),
        *_texts(*(column for column, _ in targets), nullable=True),
        *_texts("rating", nullable=True),
        sa.Column("content", JSONB(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", column],
                [f"{target}.project_id", f"{target}.id"],
                name=op.f(f"fk_{table}_project_id_{column}_{target}"),
                ondelete="CASCADE",
            )
            for column, target in targets
        ),
        *_end_of(table),
    )
    _index(table, "project_id", "created_at", "id")
    _index(table, "created_at")
    for column in (*(column for column, _ in targets), "end_user", "author"):
        _index(table, "project_id", column)
    guard(table, app="SELECT, INSERT, DELETE", worker=_AGED, system=True)


def _feedback_builds() -> None:
    table = "feedback_builds"
    op.create_table(
        table,
        *_texts("id", "project_id"),
        *_texts("curriculum_id", nullable=True),
        sa.Column("curriculum_version", sa.Integer(), nullable=True),
        sa.Column("report", JSONB(), nullable=False),
        sa.Column("people", ARRAY(sa.Text()), nullable=False),
        sa.Column(
            "removed_people", ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        *_end_of(table),
    )
    _index(table, "project_id", "created_at", "id")
    op.create_index(f"ix_{table}_people", table, ["people"], postgresql_using="gin")
    changed = "curriculum_id, curriculum_version, people, removed_people"
    guard(table, app=f"SELECT, INSERT, UPDATE ({changed})")


def _texts(*names: str, nullable: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _end_of(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f(f"fk_{table}_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f(f"pk_{table}")),
    ]


def _index(table: str, *columns: str) -> None:
    op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))
