"""Renames the table of responses that are stored under an Idempotency-Key.

Policies and rights belong to the table and keep their names.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _rename("kept_answers", "stored_responses")


def downgrade() -> None:
    _rename("stored_responses", "kept_answers")


def _rename(old: str, new: str) -> None:
    op.rename_table(old, new)
    op.execute(f"ALTER INDEX pk_{old} RENAME TO pk_{new}")
    op.execute(f"ALTER INDEX ix_{old}_created_at RENAME TO ix_{new}_created_at")
