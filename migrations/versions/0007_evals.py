"""Evals, their runs and output items; checkpoint permissions.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

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


def upgrade() -> None:
    _permissions()


def downgrade() -> None:
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
    # Whom a model was shared with sees the permission; only the owner takes it back.
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


def _now(name: str) -> sa.Column[sa.DateTime]:
    return sa.Column(
        name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
    )
