"""Adds deletion of ended jobs, and the bytes of evals and their runs.

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

from migrations.guards import APP, WORKER, setting

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_MOMENTS = ("deleted_at", "rollouts_deleted_at", "clean_after")
_INDEXES = {
    "ix_fine_tuning_jobs_unclean": (["clean_after"], "clean_after IS NOT NULL"),
    "ix_fine_tuning_jobs_finished": (
        ["finished_at", "id"],
        "finished_at IS NOT NULL AND deleted_at IS NULL",
    ),
}
_BYTES = {
    "evals": "octet_length(data_source_config::text) + octet_length(testing_criteria::text)",
    "eval_runs": "octet_length(data_source::text)",
}
_GRANTS = {
    APP: {"registered_versions": "DELETE"},
    WORKER: {
        "fine_tuning_jobs": "DELETE",
        "rollouts": "DELETE",
        "job_events": "DELETE",
        "job_metrics": "DELETE",
        "evals": "DELETE",
        "checkpoints": "DELETE",
        "reports": "DELETE",
        "files": "UPDATE (expires_at)",
        "tuned_models": "UPDATE (deleted_at)",
        "registered_objects": "SELECT (project_id, id, deleted_at), DELETE",
    },
}
_OF_HEAD = "fk_registered_versions_project_id_object_id_registered_objects"


def upgrade() -> None:
    for name in _MOMENTS:
        op.add_column("fine_tuning_jobs", sa.Column(name, sa.DateTime(timezone=True)))
    for index, (columns, condition) in _INDEXES.items():
        op.create_index(index, "fine_tuning_jobs", columns, postgresql_where=sa.text(condition))
    for table, size in _BYTES.items():
        generated = sa.Computed(size, persisted=True)
        op.add_column(table, sa.Column("bytes", sa.BigInteger(), generated, nullable=False))
    _lead_versions_to_heads(ondelete="CASCADE")
    # The versions of a deleted object, with their secrets, go with its head.
    op.execute(
        f"CREATE POLICY system ON registered_objects TO {WORKER} "
        f"USING ({setting('system')} = 'on' AND deleted_at IS NOT NULL)"
    )
    for role, grants in _GRANTS.items():
        for table, rights in grants.items():
            op.execute(f"GRANT {rights} ON {table} TO {role}")


def downgrade() -> None:
    for role, grants in _GRANTS.items():
        for table, rights in grants.items():
            op.execute(f"REVOKE {rights} ON {table} FROM {role}")
    op.execute("DROP POLICY system ON registered_objects")
    _lead_versions_to_heads(ondelete=None)
    for table in _BYTES:
        op.drop_column(table, "bytes")
    for index in _INDEXES:
        op.drop_index(index, "fine_tuning_jobs")
    for name in _MOMENTS:
        op.drop_column("fine_tuning_jobs", name)


def _lead_versions_to_heads(*, ondelete: str | None) -> None:
    op.drop_constraint(op.f(_OF_HEAD), "registered_versions")
    op.create_foreign_key(
        op.f(_OF_HEAD),
        "registered_versions",
        "registered_objects",
        ["project_id", "object_id"],
        ["project_id", "id"],
        ondelete=ondelete,
    )
