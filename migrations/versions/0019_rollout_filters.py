"""Adds indexes for the filters and the order of a job's list of rollouts.

The indexes on failures and stop reasons leave out the common case, which needs none.

Revision ID: 0019
Revises: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_PLACE = ["split", "step", "prompt_index"]
_PARTIAL = {
    "ix_rollouts_reward": (
        ["job_id", "reward", *_PLACE, "sample_index", "attempt"],
        "reward IS NOT NULL",
    ),
    "ix_rollouts_failed": (["job_id", "failure_class", *_PLACE], "failure_class IS NOT NULL"),
    "ix_rollouts_stopped": (["job_id", "stop_reason", *_PLACE], "stop_reason <> 'final_answer'"),
}


def upgrade() -> None:
    op.create_index("ix_rollouts_row", "rollouts", ["job_id", "prompt_index", "split", "step"])
    for name, (columns, condition) in _PARTIAL.items():
        op.create_index(name, "rollouts", columns, postgresql_where=sa.text(condition))


def downgrade() -> None:
    for name in ("ix_rollouts_row", *_PARTIAL):
        op.drop_index(name, table_name="rollouts")
