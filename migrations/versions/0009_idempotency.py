"""Adds the answers that are stored under an Idempotency-Key.

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import guard, setting

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "kept_answers",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("content_type", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("scope", "key", name=op.f("pk_kept_answers")),
    )
    op.create_index(op.f("ix_kept_answers_created_at"), "kept_answers", ["created_at"])
    guard(
        "kept_answers",
        app="SELECT, INSERT, UPDATE, DELETE",
        worker="SELECT, DELETE",
        policy=f"scope = {setting('project')} OR scope = {setting('organization')}",
        system=True,
    )


def downgrade() -> None:
    op.drop_table("kept_answers")
