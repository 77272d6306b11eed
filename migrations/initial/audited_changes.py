"""Lists the changes that leave an entry in the audit log."""

from migrations.audited import OF_THE_PROJECT, AuditedChange

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
            organization=f"coalesce({{row}}.organization_id, {OF_THE_PROJECT})",
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
_TEACHING = (
    AuditedChange(
        *("students", "created", "INSERT", "'student'"),
        details="jsonb_build_object('base_model', {row}.base_model)",
        resource="{row}.name",
    ),
    AuditedChange(
        *("students", "updated"),
        *("UPDATE OF current_skill, regression_sets, edited_instructions", "'student'"),
        details="jsonb_build_object('current_skill', {row}.current_skill)",
        resource="{row}.name",
    ),
    AuditedChange(*("students", "deleted", "DELETE", "'student'"), resource="{row}.name"),
    AuditedChange(
        *("skills", "created", "INSERT", "'student.skill'"),
        details="jsonb_build_object('student', {row}.student, 'model', {row}.model)",
    ),
    AuditedChange(
        *("stored_completions", "updated", "UPDATE OF metadata", "'chat.completion'"),
        when="NEW.metadata IS DISTINCT FROM OLD.metadata",
    ),
    AuditedChange("stored_completions", "deleted", "DELETE", "'chat.completion'"),
    AuditedChange(
        *("feedback", "created", "INSERT", "'feedback'"),
        details="jsonb_build_object('type', {row}.type)",
    ),
    AuditedChange("feedback", "deleted", "DELETE", "'feedback'"),
    AuditedChange("feedback_builds", "created", "INSERT", "'feedback.build'"),
    AuditedChange(
        *("coach_sessions", "created", "INSERT", "'coach_session'"),
        details="jsonb_build_object('student', {row}.student)",
    ),
    AuditedChange(
        *("coach_sessions", "updated", "UPDATE OF status", "'coach_session'"),
        when="NEW.status IS DISTINCT FROM OLD.status",
        details="jsonb_build_object('status', {row}.status)",
    ),
)
AUDITED = (*_ACCOUNTS, *_JOBS, *_DATA, *_TEACHING)
