"""Adds the audit log with the triggers that write it, and the records of usage.

Revision ID: 0031
Revises: 0030
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.audited import AuditedChange, audit, stop_audit
from migrations.guards import OF_PROJECT, guard, setting

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_OF_ORGANIZATION = f"organization_id = {setting('organization')}"
# The server sets number and time of an entry.
_WRITTEN = (
    *("id", "organization_id", "project_id", "type", "resource_id", "details"),
    *("actor_kind", "actor_id", "address"),
)
_COUNTS = (
    *("requests", "input_tokens", "output_tokens", "cached_tokens", "trained_tokens"),
    *("rollouts", "tool_calls", "grader_calls", "judge_input_tokens", "judge_output_tokens"),
)
_OWN = "{row}.organization_id"
_DELETED = "OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL"
_PAUSED = (
    "NEW.stop_request = 'pause' AND OLD.stop_request IS DISTINCT FROM NEW.stop_request"
    " OR NEW.status = 'paused' AND OLD.status <> 'paused'"
)


def _object(*columns: str, **named: str) -> str:
    """Returns SQL of an object with these columns of the row, and further ones by SQL."""
    pairs = {column: f"{{row}}.{column}" for column in columns} | named
    shown = ", ".join(f"'{key}', {sql}" for key, sql in pairs.items())
    return f"jsonb_build_object({shown})"


def _changed(*columns: str) -> str:
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    return f"({old}) IS DISTINCT FROM ({new})"


def _update(
    table: str, verb: str, columns: str, noun: str, when: str, *details: str
) -> AuditedChange:
    shown = _object(*details) if details else "'{{}}'::jsonb"
    return AuditedChange(table, verb, f"UPDATE OF {columns}", noun, when, shown)


_ACCOUNTS = (
    AuditedChange(
        *("api_keys", "created", "INSERT", "'api_key'"),
        details=_object("name", "kind", "service_account_id"),
        organization=_OWN,
    ),
    AuditedChange(
        *("api_keys", "updated", "UPDATE OF name, expires_at", "'api_key'"),
        when=_changed("name", "expires_at"),
        details=_object("name", expires_at="extract(epoch FROM {row}.expires_at)::bigint"),
        organization=_OWN,
    ),
    AuditedChange(
        *("api_keys", "deleted", "UPDATE OF revoked_at", "'api_key'"),
        when="OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL",
        organization=_OWN,
    ),
    AuditedChange(
        *("projects", "created", "INSERT", "'project'"),
        details=_object("name", title="{row}.name"),
        project="{row}.id",
        organization=_OWN,
    ),
    AuditedChange(
        *("projects", "updated", "UPDATE OF name", "'project'"),
        when=_changed("name"),
        details=_object(title="{row}.name"),
        project="{row}.id",
        organization=_OWN,
    ),
    AuditedChange(
        *("projects", "archived", "UPDATE OF archived_at", "'project'"),
        when="OLD.archived_at IS NULL AND NEW.archived_at IS NOT NULL",
        project="{row}.id",
        organization=_OWN,
    ),
    AuditedChange(
        *("service_accounts", "created", "INSERT", "'service_account'"),
        details=_object("name", "role"),
        organization=_OWN,
    ),
    AuditedChange(
        *("service_accounts", "updated", "UPDATE OF name, role", "'service_account'"),
        when=_changed("name", "role"),
        details=_object("name", "role"),
        organization=_OWN,
    ),
    AuditedChange(
        *("service_accounts", "deleted", "UPDATE OF deleted_at", "'service_account'"),
        when=_DELETED,
        organization=_OWN,
    ),
    *(
        AuditedChange(
            *("dashboard_sessions", "succeeded", on, noun),
            when="{row}.kind = 'session'",
            resource="split_part(actor, ' ', 2)",  # the id of the row is the hash of a secret
        )
        for on, noun in (("INSERT", "'login'"), ("DELETE", "'logout'"))
    ),
    *(
        AuditedChange(
            *("checkpoint_permissions", verb, on, "'checkpoint.permission'"),
            details=_object(
                project_id="{row}.target_project_id", fine_tuned_model_checkpoint="{row}.model_name"
            ),
            organization=_OWN,
        )
        for verb, on in (("created", "INSERT"), ("deleted", "DELETE"))
    ),
)
_JOBS = (
    AuditedChange(
        *("fine_tuning_jobs", "created", "INSERT", "'fine_tuning.job'"),
        details=_object("model", "training_file", "validation_file"),
        organization=_OWN,
    ),
    _update("fine_tuning_jobs", "paused", "status, stop_request", "'fine_tuning.job'", _PAUSED),
    _update(
        *("fine_tuning_jobs", "resumed", "status", "'fine_tuning.job'"),
        "OLD.status = 'paused' AND NEW.status = 'queued'",
        *("max_training_time_s", "max_rollouts"),
    ),
    _update(
        *("fine_tuning_jobs", "cancelled", "status", "'fine_tuning.job'"),
        "NEW.status = 'cancelled' AND OLD.status <> 'cancelled'",
    ),
    _update("fine_tuning_jobs", "deleted", "deleted_at", "'fine_tuning.job'", _DELETED),
    AuditedChange(
        *("tuned_models", "deleted", "UPDATE OF deleted_at", "'model'"),
        when=_DELETED,
        details=_object("job_id"),
        resource="{row}.name",
    ),
    AuditedChange(
        *("model_exports", "created", "INSERT", "'model.export'"), details=_object("model", "kind")
    ),
    _update(
        *("model_exports", "cancelled", "status, deleted_at", "'model.export'"),
        "NEW.status = 'canceled' AND OLD.status <> 'canceled' AND NEW.deleted_at IS NULL",
        "model",
    ),
    _update("model_exports", "deleted", "deleted_at", "'model.export'", _DELETED, "model"),
)
_DATA = (
    AuditedChange(
        *("files", "created", "INSERT", "'file'"), details=_object("filename", "purpose", "bytes")
    ),
    _update("files", "deleted", "deleted_at", "'file'", _DELETED, "filename", "purpose"),
    AuditedChange(
        *("uploads", "created", "INSERT", "'upload'"),
        details=_object("filename", "purpose", "bytes"),
    ),
    *(
        _update(
            *("uploads", status, "status", "'upload'"),
            f"NEW.status = '{status}' AND OLD.status <> '{status}'",
            "file_id",
        )
        for status in ("completed", "cancelled")
    ),
    AuditedChange(
        *("registered_objects", "created", "INSERT", "{row}.noun"),
        details=_object("name", "version"),
    ),
    _update(
        *("registered_objects", "updated", "version", "{row}.noun", _changed("version")),
        *("name", "version"),
    ),
    _update("registered_objects", "deleted", "deleted_at", "{row}.noun", _DELETED, "name"),
    AuditedChange(
        *("webhook_endpoints", "created", "INSERT", "'webhook_endpoint'"),
        details=_object("name", "event_types"),
    ),
    _update(
        *("webhook_endpoints", "updated", "name, url, event_types, secrets, disabled_at"),
        "'webhook_endpoint'",
        _changed("name", "url", "event_types", "secrets", "disabled_at"),
        *("name", "event_types"),
    ),
    AuditedChange(
        *("webhook_endpoints", "deleted", "DELETE", "'webhook_endpoint'"), details=_object("name")
    ),
    # A job's own eval is created and deleted with the job.
    AuditedChange(
        *("evals", "created", "INSERT", "'eval'"),
        when="NEW.job_id IS NULL",
        details=_object("name"),
    ),
    _update("evals", "updated", "name, metadata", "'eval'", "true", "name"),
    AuditedChange(
        *("evals", "deleted", "DELETE", "'eval'"),
        when="OLD.job_id IS NULL",
        details=_object("name"),
    ),
    AuditedChange(
        *("eval_runs", "created", "INSERT", "'eval.run'"), details=_object("eval_id", "model")
    ),
    _update(
        *("eval_runs", "cancelled", "status", "'eval.run'"),
        "NEW.status = 'canceled' AND OLD.status <> 'canceled'",
        "eval_id",
    ),
    AuditedChange(*("eval_runs", "deleted", "DELETE", "'eval.run'"), details=_object("eval_id")),
)
AUDITED = (*_ACCOUNTS, *_JOBS, *_DATA)


def upgrade() -> None:
    _audit_logs()
    _usage()
    for change in AUDITED:
        audit(change)


def downgrade() -> None:
    for change in AUDITED:
        stop_audit(change)
    op.drop_table("usage_records")
    op.drop_table("audit_logs")


def _audit_logs() -> None:
    table = "audit_logs"
    op.create_table(
        table,
        sa.Column("seq", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=name == "project_id") for name in _WRITTEN[:5]),
        sa.Column("details", JSONB(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _WRITTEN[6:]),
        _moment("effective_at"),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f(f"fk_{table}_organization_id_organizations"),
        ),
        _own_project(table),
        sa.PrimaryKeyConstraint("seq", name=op.f(f"pk_{table}")),
    )
    op.create_index(op.f(f"ix_{table}_organization_id_seq"), table, ["organization_id", "seq"])
    op.create_index(op.f(f"ix_{table}_id"), table, ["id"], unique=True)
    op.create_index(f"ix_{table}_effective_at", table, ["effective_at"], postgresql_using="brin")
    # The triggers write as the role that changes the row. No role changes an entry.
    guard(
        table,
        app=f"SELECT, INSERT ({', '.join(_WRITTEN)})",
        worker="SELECT (seq, effective_at), DELETE",
        policy=_OF_ORGANIZATION,
        check=f"{_OF_ORGANIZATION} OR {OF_PROJECT}",
        system=True,
    )
    _limit_removal(table)


def _usage() -> None:
    table = "usage_records"
    op.create_table(
        table,
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("id", "organization_id", "project_id", "kind", "key_id", "model")
        ),
        sa.Column("job_id", sa.Text(), nullable=True),
        _moment("used_at"),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in _COUNTS),
        *(
            sa.Column(name, sa.Float(53), server_default="0", nullable=False)
            for name in ("training_s", "gpu_s")
        ),
        sa.Column("cost", sa.Float(53), nullable=True),
        sa.Column("currency", sa.Text(), nullable=True),
        _own_project(table),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f(f"pk_{table}")),
    )
    for owner in ("organization_id", "project_id"):
        columns = [owner, "kind", "used_at"]
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, columns)
    op.create_index(f"ix_{table}_used_at", table, ["used_at"], postgresql_using="brin")
    guard(
        table,
        app="SELECT, INSERT",
        worker="SELECT (project_id, id, used_at), INSERT, DELETE",
        policy=f"{_OF_ORGANIZATION} OR {OF_PROJECT}",
        check=OF_PROJECT,
        system=True,
    )
    _limit_removal(table)


def _limit_removal(table: str) -> None:
    """Lets rows go by age alone: other policies are alternatives, and this one is a condition."""
    op.execute(
        f"CREATE POLICY removal ON {table} AS RESTRICTIVE FOR DELETE"
        f" USING ({setting('system')} = 'on')"
    )


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(
        name,
        sa.DateTime(timezone=True),
        server_default=sa.text("clock_timestamp()"),
        nullable=False,
    )


def _own_project(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", "project_id"],
        ["projects.organization_id", "projects.id"],
        name=op.f(f"fk_{table}_organization_id_project_id_projects"),
    )
