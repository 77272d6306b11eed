"""Adds students and their skills.

Revision ID: 0032
Revises: 0031
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.audited import AuditedChange, audit, stop_audit
from migrations.guards import guard

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_STUDENT = "'student'"
AUDITED = (
    AuditedChange(
        *("students", "created", "INSERT", _STUDENT),
        details="jsonb_build_object('base_model', {row}.base_model)",
        resource="{row}.name",
    ),
    AuditedChange(
        *("students", "updated", "UPDATE OF current_skill, regression_sets", _STUDENT),
        details="jsonb_build_object('current_skill', {row}.current_skill)",
        resource="{row}.name",
    ),
    AuditedChange(*("students", "deleted", "DELETE", _STUDENT), resource="{row}.name"),
    AuditedChange(
        *("skills", "created", "INSERT", "'student.skill'"),
        details="jsonb_build_object('student', {row}.student, 'model', {row}.model)",
    ),
)


def upgrade() -> None:
    op.create_table(
        "students",
        *_texts("project_id", "name", "base_model"),
        sa.Column("regression_sets", JSONB(), nullable=False),
        sa.Column("current_skill", sa.Text(), nullable=True),
        _now("created_at"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_students_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_students")),
    )
    op.create_table(
        "skills",
        *_texts("project_id", "id", "student", "job_id", "model", "baseline", "status"),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("runs", JSONB(), nullable=False),
        sa.Column("comparisons", JSONB(), nullable=False),
        sa.Column("promoted_at", sa.DateTime(timezone=True), nullable=True),
        _now("created_at"),
        sa.ForeignKeyConstraint(
            ["project_id", "student"],
            ["students.project_id", "students.name"],
            name=op.f("fk_skills_project_id_student_students"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_skills")),
    )
    columns = ["project_id", "student", "created_at", "id"]
    op.create_index(op.f(f"ix_skills_{'_'.join(columns)}"), "skills", columns)
    guard(
        "students",
        app="SELECT, INSERT, DELETE, UPDATE (current_skill, regression_sets)",
        worker="SELECT",
    )
    decided = "status, reason, comparisons, promoted_at"
    guard("skills", app=f"SELECT, INSERT, DELETE, UPDATE ({decided})", worker="SELECT")
    for change in AUDITED:
        audit(change)


def downgrade() -> None:
    for change in AUDITED:
        stop_audit(change)
    op.drop_table("skills")
    op.drop_table("students")


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _now(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False)
