"""Stores the reasoning effort of a tuned model's training in the model's row.

Existing rows get it from their job's method. Both tables force row-level security on their owner
too, so it is lifted for that one statement.

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FILL = """
    UPDATE tuned_models AS model
    SET reasoning_effort = job.method #>> '{reinforcement,hyperparameters,reasoning_effort}'
    FROM fine_tuning_jobs AS job
    WHERE job.project_id = model.project_id AND job.id = model.job_id
      AND job.method #>> '{reinforcement,hyperparameters,reasoning_effort}' <> 'default'
"""


def upgrade() -> None:
    op.add_column("tuned_models", sa.Column("reasoning_effort", sa.Text(), nullable=True))
    for table in ("tuned_models", "fine_tuning_jobs"):
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(FILL)
    for table in ("tuned_models", "fine_tuning_jobs"):
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_column("tuned_models", "reasoning_effort")
