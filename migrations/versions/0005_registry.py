"""Adds registered tools, graders and curricula, with their versions.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.guards import guard

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _objects()
    _versions()
    # A version has no UPDATE: what a job was made from stays what it was.
    guard("registered_objects", app="SELECT, INSERT, UPDATE")
    guard("registered_versions", app="SELECT, INSERT")


def downgrade() -> None:
    op.drop_table("registered_versions")
    op.drop_table("registered_objects")


def _objects() -> None:
    op.create_table(
        "registered_objects",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("noun", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _now(),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_registered_objects")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_registered_objects_project_id_projects"),
        ),
    )
    op.create_index(
        op.f("ix_registered_objects_project_id_noun_created_at_id"),
        "registered_objects",
        ["project_id", "noun", "created_at", "id"],
    )
    op.create_index(
        "uq_registered_objects_living_name",
        "registered_objects",
        ["project_id", "noun", "name"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )


def _versions() -> None:
    op.create_table(
        "registered_versions",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("object_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("definition", JSONB(), nullable=False),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        sa.Column("metadata", JSONB(), nullable=True),
        _now(),
        sa.PrimaryKeyConstraint(
            "project_id", "object_id", "version", name=op.f("pk_registered_versions")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "object_id"],
            ["registered_objects.project_id", "registered_objects.id"],
            name=op.f("fk_registered_versions_project_id_object_id_registered_objects"),
        ),
    )


def _now() -> sa.Column[object]:
    return sa.Column(
        "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
    )
