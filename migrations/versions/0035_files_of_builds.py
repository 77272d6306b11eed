"""Names the files of a build from feedback by their ids: anyone may upload a file of the same name.

Revision ID: 0035
Revises: 0034
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

from migrations.guards import APP

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_FILL = """
    UPDATE feedback_builds AS build SET file_ids = ARRAY(
        SELECT file.id FROM files AS file
        WHERE file.project_id = build.project_id AND file.purpose = 'fine-tune'
          AND file.filename IN (build.id || '-training.jsonl', build.id || '-validation.jsonl'))
"""


def upgrade() -> None:
    op.add_column(
        "feedback_builds",
        sa.Column("file_ids", ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.execute(f"GRANT UPDATE (file_ids) ON feedback_builds TO {APP}")
    # The owner of the tables is bound by their policies as well while these are forced.
    tables = ("feedback_builds", "files")
    for table in tables:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(_FILL)
    for table in tables:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_column("feedback_builds", "file_ids")
