"""Adds archived projects, the time of a key's last use, and service accounts.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import guard, setting

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ACTIVE = sa.text("archived_at IS NULL")


def upgrade() -> None:
    _projects()
    _service_accounts()
    _keys()
    guard(
        "service_accounts",
        app="SELECT, INSERT, UPDATE",
        policy=f"organization_id = {setting('organization')}",
    )


def downgrade() -> None:
    for index in (
        "ix_api_keys_service_account",
        "ix_api_keys_living_admin",
        "ix_api_keys_living",
    ):
        op.drop_index(index, "api_keys")
    op.drop_constraint(
        op.f("fk_api_keys_project_id_service_account_id_service_accounts"), "api_keys"
    )
    for column in ("service_account_id", "last_used_at", "project_archived_at"):
        op.drop_column("api_keys", column)
    op.drop_table("service_accounts")
    for index in (
        "uq_projects_active_name",
        "ix_projects_active",
        op.f("ix_projects_organization_id_created_at_id"),
    ):
        op.drop_index(index, "projects")
    op.drop_column("projects", "archived_at")
    op.create_unique_constraint(
        op.f("uq_projects_organization_id_name"), "projects", ["organization_id", "name"]
    )


def _projects() -> None:
    op.add_column("projects", sa.Column("archived_at", sa.DateTime(timezone=True)))
    op.drop_constraint(op.f("uq_projects_organization_id_name"), "projects")
    op.create_index(
        "uq_projects_active_name",
        "projects",
        ["organization_id", "name"],
        unique=True,
        postgresql_where=_ACTIVE,
    )
    columns = ["organization_id", "created_at", "id"]
    op.create_index(op.f("ix_projects_organization_id_created_at_id"), "projects", columns)
    op.create_index("ix_projects_active", "projects", columns, postgresql_where=_ACTIVE)


def _service_accounts() -> None:
    op.create_table(
        "service_accounts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("organization_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_service_accounts")),
        sa.ForeignKeyConstraint(
            ["organization_id", "project_id"],
            ["projects.organization_id", "projects.id"],
            name=op.f("fk_service_accounts_organization_id_project_id_projects"),
        ),
    )
    op.create_index(
        "ix_service_accounts_living",
        "service_accounts",
        ["project_id", "created_at", "id"],
        postgresql_where=sa.text("deleted_at IS NULL"),
    )


def _keys() -> None:
    for column in ("project_archived_at", "last_used_at"):
        op.add_column("api_keys", sa.Column(column, sa.DateTime(timezone=True)))
    op.add_column("api_keys", sa.Column("service_account_id", sa.Text()))
    op.create_foreign_key(
        op.f("fk_api_keys_project_id_service_account_id_service_accounts"),
        "api_keys",
        "service_accounts",
        ["project_id", "service_account_id"],
        ["project_id", "id"],
    )
    op.create_index(
        "ix_api_keys_living",
        "api_keys",
        ["organization_id", "project_id", "created_at", "id"],
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_index(
        "ix_api_keys_living_admin",
        "api_keys",
        ["organization_id", "created_at", "id"],
        postgresql_where=sa.text("project_id IS NULL AND revoked_at IS NULL"),
    )
    op.create_index("ix_api_keys_service_account", "api_keys", ["project_id", "service_account_id"])
