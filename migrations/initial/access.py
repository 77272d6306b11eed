"""Says which role reads and writes which rows: policies and grants of every table."""

from alembic import op

from migrations.guards import APP, OF_PROJECT, WORKER, guard, setting

_OF_ORGANIZATION = f"organization_id = {setting('organization')}"
_OF_BOTH = f"{_OF_ORGANIZATION} OR {OF_PROJECT}"
_OF_SCOPE = f"scope = {setting('project')} OR scope = {setting('organization')}"
_SHARED = f"""
    SELECT FROM checkpoint_permissions AS p
    WHERE p.project_id = tuned_models.project_id AND p.model_name = tuned_models.name
      AND p.target_project_id = {setting("project")}
"""
_OF_ITS_ORGANIZATION = f"""
    SELECT FROM projects AS p
    WHERE p.id = tuned_models.project_id AND p.organization_id = {setting("organization")}
"""
_AGED = "SELECT (project_id, id, created_at), DELETE"
_REWRAPPED = (
    *("fine_tuning_jobs", "evals", "registered_versions", "webhook_endpoints"),
    *("stored_responses", "coach_sessions"),
)
# The roles exist where the supervisor made them. On another database they are made without a
# password if the owner may, else the migration fails with the name of the missing role.
_ROLE = """
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN
            CREATE ROLE {name} NOLOGIN NOSUPERUSER NOBYPASSRLS;
        END IF;
    EXCEPTION WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'role {name} is missing and the owner may not make it: '
            'CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS';
    END $$
"""


def role(name: str) -> str:
    return _ROLE.format(name=name)


def make_roles() -> None:
    for name in (APP, WORKER):
        op.execute(role(name))
        op.execute(f"GRANT USAGE ON SCHEMA public TO {name}")


def limit_access() -> None:
    _accounts()
    _jobs()
    _data()
    _records()
    _teaching()
    _further_policies()


def _accounts() -> None:
    guard(
        "organizations",
        # The operator sets the weight of shares, not the administrator of an organization.
        app="SELECT, INSERT (id, slug, title, created_at)",
        worker="SELECT",
        policy=f"id = {setting('organization')} OR slug = {setting('organization_slug')}",
        check=f"id = {setting('organization')}",
    )
    guard(
        "projects",
        app="SELECT, INSERT (id, organization_id, name, created_at), UPDATE (name, archived_at)",
        worker="SELECT (id, organization_id, share_weight, max_queued_jobs, max_running_jobs,"
        " max_queued_eval_runs, max_running_eval_runs, max_files, max_stored_bytes,"
        " max_registered_objects, max_queued_exports, max_running_exports)",
        policy=f"{_OF_ORGANIZATION} OR id = {setting('project')}",
        check=_OF_ORGANIZATION,
    )
    guard("service_accounts", app="SELECT, INSERT, UPDATE", policy=_OF_ORGANIZATION)
    guard(
        "api_keys",
        app="SELECT, INSERT, UPDATE",
        policy=f"{_OF_ORGANIZATION} OR key_id = {setting('key_id')}",
        check=_OF_ORGANIZATION,
    )
    guard(
        "dashboard_sessions",
        app="SELECT, INSERT, DELETE",
        worker="SELECT, DELETE",
        policy=f"{_OF_BOTH} OR id = {setting('dashboard_session')}",
        check=_OF_BOTH,
        system=True,
    )


def _jobs() -> None:
    everything = "SELECT, INSERT, UPDATE, DELETE"
    guard(
        "fine_tuning_jobs",
        app="SELECT, INSERT, UPDATE",
        worker="SELECT, UPDATE, DELETE",
        system=True,
    )
    guard("checkpoints", app="SELECT", worker="SELECT, INSERT, DELETE")
    guard("job_events", app="SELECT, INSERT", worker="SELECT, INSERT, DELETE")
    guard("job_metrics", app="SELECT", worker=everything)
    # Triggers run with the rights of who writes the points: only a run and the sweep do.
    guard("job_metric_blocks", app="SELECT", worker=everything)
    guard("journal", worker=everything)
    guard("reports", app="SELECT", worker=everything)
    guard("rollouts", app="SELECT", worker="SELECT, INSERT, DELETE")
    guard("tuned_models", app="SELECT, UPDATE", worker="SELECT, INSERT, UPDATE (deleted_at)")
    guard(
        "checkpoint_permissions",
        app="SELECT, INSERT, DELETE",
        worker="SELECT",
        policy=f"{OF_PROJECT} OR target_project_id = {setting('project')}",
        check=OF_PROJECT,
    )
    guard(
        "model_exports", app="SELECT, INSERT, UPDATE", worker="SELECT, UPDATE, DELETE", system=True
    )
    guard("evals", app=everything, worker="SELECT, DELETE")
    guard("eval_runs", app=everything, worker="SELECT, INSERT, UPDATE", system=True)
    guard("eval_output_items", app="SELECT", worker="SELECT, INSERT")
    guard(
        "organization_virtual_times",
        worker="SELECT, INSERT, UPDATE",
        policy=_OF_ORGANIZATION,
        system=True,
    )


def _data() -> None:
    guard(
        "files",
        app="SELECT, INSERT, UPDATE",
        worker="SELECT, INSERT, UPDATE (expires_at), DELETE",
        system=True,
    )
    guard("uploads", app="SELECT, INSERT, UPDATE", worker="SELECT, UPDATE, DELETE", system=True)
    guard("upload_parts", app="SELECT, INSERT")
    guard(
        "registered_objects",
        app="SELECT, INSERT, UPDATE",
        worker="SELECT (project_id, id, deleted_at), DELETE",
    )
    guard("registered_versions", app="SELECT, INSERT, DELETE")
    guard("webhook_endpoints", app="SELECT, INSERT, UPDATE, DELETE", worker="SELECT, UPDATE")
    guard("webhook_events", app="SELECT", worker="SELECT, INSERT, DELETE", system=True)
    guard(
        "webhook_deliveries",
        app="SELECT, UPDATE (status, attempts, next_attempt_at, finished_at)",
        worker="SELECT, INSERT, UPDATE",
        system=True,
    )


def _records() -> None:
    guard(
        "stored_responses",
        app="SELECT, INSERT, UPDATE, DELETE",
        worker="SELECT, DELETE",
        policy=_OF_SCOPE,
        system=True,
    )
    event = "INSERT (id, project_id, type, subject, data)"
    guard("event_log", app=event, worker=f"SELECT, {event}, UPDATE (position), DELETE", system=True)
    guard("event_cursors", worker="SELECT, INSERT, UPDATE", policy="false", system=True)
    # The triggers write as the role that changes the row. No role changes an entry, and the server
    # sets its number and time.
    guard(
        "audit_logs",
        app="SELECT, INSERT (id, organization_id, project_id, type, resource_id, details,"
        " actor_kind, actor_id, address)",
        worker="SELECT (seq, effective_at), DELETE",
        policy=_OF_ORGANIZATION,
        check=_OF_BOTH,
        system=True,
    )
    guard(
        "usage_records",
        app="SELECT, INSERT",
        worker="SELECT (project_id, id, used_at), INSERT, DELETE",
        policy=_OF_BOTH,
        check=OF_PROJECT,
        system=True,
    )


def _teaching() -> None:
    guard(
        "students",
        app="SELECT, INSERT, UPDATE (regression_sets, current_skill, edited_instructions), DELETE",
        worker="SELECT",
    )
    guard(
        "skills",
        app="SELECT, INSERT, UPDATE (status, reason, comparisons, promoted_at), DELETE",
        worker="SELECT",
    )
    guard(
        "stored_completions",
        app="SELECT, INSERT, UPDATE (metadata), DELETE",
        worker=_AGED,
        system=True,
    )
    guard("feedback", app="SELECT, INSERT, DELETE", worker=_AGED, system=True)
    guard(
        "feedback_builds",
        app="SELECT, INSERT, UPDATE (curriculum_id, curriculum_version, people, removed_people,"
        " file_ids, learned)",
    )
    guard(
        "coach_sessions",
        app="SELECT, INSERT, UPDATE (status, progress, outcome, reason, fence, lease_until,"
        " next_step_at, finished_at, claimed_at), DELETE",
    )
    guard("coach_entries", app="SELECT, INSERT")


def _further_policies() -> None:
    system = f"{setting('system')} = 'on'"
    for table in ("organizations", "projects"):
        _policy("system", table, f"FOR SELECT TO {WORKER} USING ({system})")
    # The versions of a deleted object, with their secrets, go with its head.
    _policy(
        *("system", "registered_objects"),
        f"TO {WORKER} USING ({system} AND deleted_at IS NOT NULL)",
    )
    # Rows go by age alone: other policies are alternatives, and this one is a condition.
    for table in ("audit_logs", "usage_records"):
        _policy("removal", table, f"AS RESTRICTIVE FOR DELETE USING ({system})")
    # A project reads what is shared with it, and revokes only what it shared itself.
    _policy(
        *("revoke", "checkpoint_permissions"), f"AS RESTRICTIVE FOR DELETE USING ({OF_PROJECT})"
    )
    _policy(
        *("shared", "tuned_models"), f"FOR SELECT TO {APP}, {WORKER} USING (EXISTS ({_SHARED}))"
    )
    _policy(
        *("organization", "tuned_models"),
        f"FOR SELECT TO {APP} USING (EXISTS ({_OF_ITS_ORGANIZATION}))",
    )
    # The owner is forced under row-level security too: its functions read queues of all tenants.
    for table in (
        *("organizations", "projects", "fine_tuning_jobs", "coach_sessions"),
        "organization_virtual_times",
    ):
        _policy("queue", table, f"FOR SELECT TO CURRENT_USER USING ({setting('queue')} = 'on')")
    # For `agent-rft keys rewrap`. The setting gives nothing to the roles of API and workers.
    rewrap = f"TO CURRENT_USER USING ({setting('rewrap')} = 'on')"
    for table in _REWRAPPED:
        _policy("rewrap", table, rewrap)
    _policy("rewrap", "api_keys", f"FOR SELECT {rewrap}")


def _policy(name: str, table: str, text: str) -> None:
    op.execute(f"CREATE POLICY {name} ON {table} {text}")
