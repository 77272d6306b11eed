"""Adds evals with their runs and output items, and checkpoint permissions.

Revision ID: 0007
Revises: 0006
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.guards import APP, OF_PROJECT, WORKER, guard, setting

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# A shared model is seen, never changed; the table of permissions names no other, so nothing recurs.
SHARED = f"""
    EXISTS (
        SELECT FROM checkpoint_permissions p
        WHERE p.project_id = tuned_models.project_id AND p.model_name = tuned_models.name
          AND p.target_project_id = {setting("project")}
    )
"""
OF_ORGANIZATION = f"""
    EXISTS (
        SELECT FROM projects p
        WHERE p.id = tuned_models.project_id AND p.organization_id = {setting("organization")}
    )
"""


# Jobs from before this revision get their eval too; those of today get it with their row.
OF_EARLIER_JOBS = """
    INSERT INTO evals (id, project_id, job_id, name, data_source_config, testing_criteria,
                       created_at, updated_at)
    SELECT 'eval_' || substr(id, length('ftjob-') + 1), project_id, id,
           'Reinforcement Fine Tuning validation runs for ' || id,
           '{"type": "custom", "schema": {"type": "object",
             "properties": {"item": {"type": "object"}, "sample": {"type": "object"}},
             "required": ["item", "sample"]}}',
           jsonb_build_array(method->'reinforcement'->'grader'), created_at, created_at
    FROM fine_tuning_jobs WHERE method->>'type' = 'reinforcement'
"""


def upgrade() -> None:
    _permissions()
    _evals()
    _eval_runs()
    _output_items()


def downgrade() -> None:
    op.drop_table("eval_output_items")
    op.drop_table("eval_runs")
    op.drop_table("evals")
    op.execute("DROP POLICY organization ON tuned_models")
    op.execute("DROP POLICY shared ON tuned_models")
    op.drop_table("checkpoint_permissions")


def _permissions() -> None:
    op.create_table(
        "checkpoint_permissions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("organization_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("model_name", sa.Text(), nullable=False),
        sa.Column("target_project_id", sa.Text(), nullable=False),
        _now("created_at"),
        sa.ForeignKeyConstraint(
            ["organization_id", "project_id"],
            ["projects.organization_id", "projects.id"],
            name=op.f("fk_checkpoint_permissions_organization_id_project_id_projects"),
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "target_project_id"],
            ["projects.organization_id", "projects.id"],
            name="fk_checkpoint_permissions_target",
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "model_name"],
            ["tuned_models.project_id", "tuned_models.name"],
            name="fk_checkpoint_permissions_model",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_checkpoint_permissions")),
        sa.UniqueConstraint(
            "project_id",
            "model_name",
            "target_project_id",
            name="uq_checkpoint_permissions_grant",
        ),
    )
    op.create_index(
        op.f("ix_checkpoint_permissions_project_id_model_name_created_at_id"),
        "checkpoint_permissions",
        ["project_id", "model_name", "created_at", "id"],
    )
    op.create_index(
        op.f("ix_checkpoint_permissions_target_project_id"),
        "checkpoint_permissions",
        ["target_project_id"],
    )
    guard(
        "checkpoint_permissions",
        app="SELECT, INSERT, DELETE",
        worker="SELECT",
        policy=f"{OF_PROJECT} OR target_project_id = {setting('project')}",
        check=OF_PROJECT,
    )
    # A project that a model was shared with sees the permission; only the owner revokes it.
    op.execute(
        "CREATE POLICY revoke ON checkpoint_permissions AS RESTRICTIVE FOR DELETE"
        f" USING ({OF_PROJECT})"
    )
    op.execute(
        f"CREATE POLICY shared ON tuned_models FOR SELECT TO {APP}, {WORKER} USING ({SHARED})"
    )
    # An admin key shares any model of its organization; only the API's role acts for one.
    op.execute(
        f"CREATE POLICY organization ON tuned_models FOR SELECT TO {APP} USING ({OF_ORGANIZATION})"
    )


def _evals() -> None:
    op.create_table(
        "evals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        _json("data_source_config"),
        _json("testing_criteria"),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        _json("metadata", nullable=True),
        _now("created_at"),
        _now("updated_at"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_evals_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "job_id"],
            ["fine_tuning_jobs.project_id", "fine_tuning_jobs.id"],
            name=op.f("fk_evals_project_id_job_id_fine_tuning_jobs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_evals")),
    )
    for moment in ("created_at", "updated_at"):
        columns = ["project_id", moment, "id"]
        op.create_index(op.f(f"ix_evals_project_id_{moment}_id"), "evals", columns)
    # Even its owner sees no job while row-level security is forced.
    op.execute("ALTER TABLE fine_tuning_jobs NO FORCE ROW LEVEL SECURITY")
    op.execute(OF_EARLIER_JOBS)
    op.execute("ALTER TABLE fine_tuning_jobs FORCE ROW LEVEL SECURITY")
    guard("evals", app="SELECT, INSERT, UPDATE, DELETE", worker="SELECT")


def _eval_runs() -> None:
    op.create_table(
        "eval_runs",
        *(sa.Column(n, sa.Text(), nullable=False) for n in ("id", "project_id", "eval_id")),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        _json("data_source"),
        _json("metadata", nullable=True),
        _json("error", nullable=True),
        *(_count(name) for name in ("passed", "failed", "errored")),
        _json("criteria"),
        _json("usage"),
        _now("created_at"),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        _count("attempts"),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id", "eval_id"],
            ["evals.project_id", "evals.id"],
            name=op.f("fk_eval_runs_project_id_eval_id_evals"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_eval_runs")),
    )
    op.create_index(op.f("ix_eval_runs_id"), "eval_runs", ["id"], unique=True)
    op.create_index(
        "ix_eval_runs_open",
        "eval_runs",
        ["status", "dispatched_at"],
        postgresql_where="status IN ('queued', 'in_progress')",
    )
    op.create_index(
        op.f("ix_eval_runs_project_id_eval_id_created_at_id"),
        "eval_runs",
        ["project_id", "eval_id", "created_at", "id"],
    )
    guard("eval_runs", app="SELECT, INSERT, UPDATE, DELETE", worker="SELECT, UPDATE", system=True)


def _output_items() -> None:
    op.create_table(
        "eval_output_items",
        *(sa.Column(n, sa.Text(), nullable=False) for n in ("id", "project_id", "run_id")),
        sa.Column("eval_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        *(_json(name) for name in ("datasource_item", "results", "sample", "usage")),
        _now("created_at"),
        sa.ForeignKeyConstraint(
            ["project_id", "run_id"],
            ["eval_runs.project_id", "eval_runs.id"],
            name=op.f("fk_eval_output_items_project_id_run_id_eval_runs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_eval_output_items")),
        sa.UniqueConstraint(
            "project_id",
            "run_id",
            "position",
            name=op.f("uq_eval_output_items_project_id_run_id_position"),
        ),
    )
    guard("eval_output_items", app="SELECT", worker="SELECT, INSERT")


def _json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, postgresql.JSONB(none_as_null=nullable), nullable=nullable)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def _now(name: str) -> sa.Column[datetime]:
    return sa.Column(
        name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
    )
