"""Adds multi-part uploads, and the rights to remove expired and deleted files.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import WORKER, guard, setting

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_uploads()
    _create_parts()
    guard("uploads", app="SELECT, INSERT, UPDATE", worker="SELECT, UPDATE, DELETE", system=True)
    guard("upload_parts", app="SELECT, INSERT")
    op.execute(f"CREATE POLICY system ON files TO {WORKER} USING ({setting('system')} = 'on')")
    op.execute(f"GRANT DELETE ON files TO {WORKER}")
    for column in ("expires_at", "deleted_at"):
        name = {"expires_at": "ix_files_expiring", "deleted_at": "ix_files_deleted"}[column]
        op.create_index(
            name, "files", [column], unique=False, postgresql_where=f"{column} IS NOT NULL"
        )


def _create_uploads() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("mime_type", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("file_expires_after_s", sa.Integer(), nullable=True),
        sa.Column("file_id", sa.Text(), nullable=True),
        sa.Column("part_ids", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_uploads_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_uploads")),
    )
    op.create_index(op.f("ix_uploads_expires_at"), "uploads", ["expires_at"], unique=False)


def _create_parts() -> None:
    op.create_table(
        "upload_parts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("upload_id", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "upload_id"],
            ["uploads.project_id", "uploads.id"],
            name=op.f("fk_upload_parts_project_id_upload_id_uploads"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_upload_parts")),
    )
    op.create_index(
        op.f("ix_upload_parts_project_id_upload_id"),
        "upload_parts",
        ["project_id", "upload_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index("ix_files_deleted", table_name="files")
    op.drop_index("ix_files_expiring", table_name="files")
    op.execute(f"REVOKE DELETE ON files FROM {WORKER}")
    op.execute("DROP POLICY system ON files")
    op.drop_table("upload_parts")
    op.drop_table("uploads")
