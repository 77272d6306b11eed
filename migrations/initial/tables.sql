-- Tables, constraints and indexes. Their rights are in `access.py`.

CREATE TABLE organizations (
    id text NOT NULL,
    slug text NOT NULL,
    title text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    share_weight double precision DEFAULT '1' NOT NULL,
    CONSTRAINT pk_organizations PRIMARY KEY (id),
    CONSTRAINT uq_organizations_slug UNIQUE (slug),
    CONSTRAINT ck_organizations_share_weight CHECK (share_weight BETWEEN 1e-6 AND 1e6)
);

CREATE TABLE projects (
    id text NOT NULL,
    organization_id text NOT NULL,
    name text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    archived_at timestamptz,
    share_weight double precision DEFAULT '1' NOT NULL,
    max_queued_jobs bigint,
    max_running_jobs bigint,
    max_queued_eval_runs bigint,
    max_running_eval_runs bigint,
    max_files bigint,
    max_stored_bytes bigint,
    max_registered_objects bigint,
    max_queued_exports bigint,
    max_running_exports bigint,
    max_eval_output_items bigint,
    max_students bigint,
    max_open_coach_sessions bigint,
    max_feedback bigint,
    CONSTRAINT pk_projects PRIMARY KEY (id),
    CONSTRAINT uq_projects_organization_id_id UNIQUE (organization_id, id),
    CONSTRAINT ck_projects_share_weight CHECK (share_weight BETWEEN 1e-6 AND 1e6),
    CONSTRAINT fk_projects_organization_id_organizations
        FOREIGN KEY (organization_id) REFERENCES organizations
);
CREATE INDEX ix_projects_active
    ON projects (organization_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX ix_projects_organization_id_created_at_id
    ON projects (organization_id, created_at, id);
CREATE UNIQUE INDEX uq_projects_active_name
    ON projects (organization_id, name) WHERE archived_at IS NULL;

CREATE TABLE files (
    id text NOT NULL,
    project_id text NOT NULL,
    filename text NOT NULL,
    purpose text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    object_key text NOT NULL,
    status text NOT NULL,
    status_details text,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    deleted_at timestamptz,
    CONSTRAINT pk_files PRIMARY KEY (project_id, id),
    CONSTRAINT fk_files_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_files_deleted ON files (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX ix_files_expiring ON files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX ix_files_project_id_created_at_id ON files (project_id, created_at, id);

CREATE TABLE fine_tuning_jobs (
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text NOT NULL,
    key_id text NOT NULL,
    model text NOT NULL,
    status text NOT NULL,
    training_file text NOT NULL,
    validation_file text,
    seed bigint NOT NULL,
    suffix text,
    method jsonb NOT NULL,
    secrets bytea,
    metadata jsonb,
    integrations jsonb NOT NULL,
    error jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    estimated_finish timestamptz,
    fine_tuned_model text,
    trained_tokens bigint,
    result_files jsonb NOT NULL,
    stop_request text,
    step integer DEFAULT 0 NOT NULL,
    total_steps integer,
    resume_key text,
    adapter_key text,
    fence bigint DEFAULT '0' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_until timestamptz,
    dispatched_at timestamptz,
    max_training_time_s double precision,
    max_rollouts bigint,
    usage jsonb,
    queued_at timestamptz DEFAULT now() NOT NULL,
    kept_checkpoints jsonb,
    ended_early jsonb,
    verdict text,
    reproducibility jsonb,
    put_backs integer DEFAULT 0 NOT NULL,
    turn double precision,
    not_before timestamptz,
    priority smallint DEFAULT '0' NOT NULL,
    deleted_at timestamptz,
    rollouts_deleted_at timestamptz,
    clean_after timestamptz,
    mcp_listings jsonb,
    evals jsonb DEFAULT '[]' NOT NULL,
    CONSTRAINT pk_fine_tuning_jobs PRIMARY KEY (project_id, id),
    CONSTRAINT fk_fine_tuning_jobs_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id)
);
CREATE INDEX ix_fine_tuning_jobs_finished
    ON fine_tuning_jobs (finished_at, id) WHERE finished_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX ix_fine_tuning_jobs_held
    ON fine_tuning_jobs (lease_until)
    WHERE status IN ('validating_files', 'queued', 'running', 'pausing');
CREATE UNIQUE INDEX ix_fine_tuning_jobs_id ON fine_tuning_jobs (id);
CREATE INDEX ix_fine_tuning_jobs_open
    ON fine_tuning_jobs (status, dispatched_at)
    WHERE status IN ('validating_files', 'queued', 'running', 'pausing');
CREATE INDEX ix_fine_tuning_jobs_project_id_created_at_id
    ON fine_tuning_jobs (project_id, created_at, id);
CREATE INDEX ix_fine_tuning_jobs_project_id_turn ON fine_tuning_jobs (project_id, turn);
CREATE INDEX ix_fine_tuning_jobs_turn ON fine_tuning_jobs (turn);
CREATE INDEX ix_fine_tuning_jobs_unclean
    ON fine_tuning_jobs (clean_after) WHERE clean_after IS NOT NULL;
CREATE INDEX ix_fine_tuning_jobs_waiting
    ON fine_tuning_jobs (project_id, priority DESC, queued_at, created_at, id)
    WHERE status IN ('validating_files', 'queued', 'running', 'pausing');

CREATE TABLE checkpoints (
    id text NOT NULL,
    project_id text NOT NULL,
    job_id text NOT NULL,
    step integer NOT NULL,
    model_name text NOT NULL,
    object_key text NOT NULL,
    metrics jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_checkpoints PRIMARY KEY (project_id, id),
    CONSTRAINT uq_checkpoints_job_id_step UNIQUE (job_id, step),
    CONSTRAINT fk_checkpoints_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);

CREATE TABLE job_events (
    seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id text NOT NULL,
    project_id text NOT NULL,
    job_id text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    level text NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    data jsonb,
    CONSTRAINT pk_job_events PRIMARY KEY (seq),
    CONSTRAINT fk_job_events_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);
CREATE UNIQUE INDEX ix_job_events_id ON job_events (id);
CREATE INDEX ix_job_events_job_id_seq ON job_events (job_id, seq);

CREATE TABLE job_metrics (
    job_id text NOT NULL,
    name text NOT NULL,
    split text NOT NULL,
    step integer NOT NULL,
    project_id text NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT pk_job_metrics PRIMARY KEY (job_id, name, split, step),
    CONSTRAINT fk_job_metrics_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);

CREATE TABLE journal (
    job_id text NOT NULL,
    key text NOT NULL,
    project_id text NOT NULL,
    step integer NOT NULL,
    request_sha256 text NOT NULL,
    payload json NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_journal PRIMARY KEY (job_id, key),
    CONSTRAINT fk_journal_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);

CREATE TABLE reports (
    project_id text NOT NULL,
    job_id text NOT NULL,
    report jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_reports PRIMARY KEY (project_id, job_id),
    CONSTRAINT fk_reports_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);

CREATE TABLE rollouts (
    id text NOT NULL,
    project_id text NOT NULL,
    job_id text NOT NULL,
    split text NOT NULL,
    step integer NOT NULL,
    prompt_index integer NOT NULL,
    sample_index integer NOT NULL,
    attempt integer NOT NULL,
    trace_id text NOT NULL,
    reward double precision,
    failure_class text,
    failure_message text,
    stop_reason text,
    policy_version integer NOT NULL,
    prompt_tokens integer NOT NULL,
    completion_tokens integer NOT NULL,
    reasoning_tokens integer NOT NULL,
    tool_calls integer NOT NULL,
    components jsonb NOT NULL,
    trace jsonb NOT NULL,
    started_at double precision NOT NULL,
    finished_at double precision NOT NULL,
    tokens jsonb,
    CONSTRAINT pk_rollouts PRIMARY KEY (project_id, id),
    CONSTRAINT uq_rollouts_sample
        UNIQUE (job_id, split, step, prompt_index, sample_index, attempt),
    CONSTRAINT fk_rollouts_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);
CREATE INDEX ix_rollouts_failed
    ON rollouts (job_id, failure_class, split, step, prompt_index) WHERE failure_class IS NOT NULL;
CREATE INDEX ix_rollouts_repeated
    ON rollouts (job_id, split, step, prompt_index)
    WHERE jsonb_path_exists(trace, '$.turns[*].tool_calls[*] ? (@.repeated == true)');
CREATE INDEX ix_rollouts_reward
    ON rollouts (job_id, reward, split, step, prompt_index, sample_index, attempt)
    WHERE reward IS NOT NULL;
CREATE INDEX ix_rollouts_row ON rollouts (job_id, prompt_index, split, step);
CREATE INDEX ix_rollouts_stopped
    ON rollouts (job_id, stop_reason, split, step, prompt_index)
    WHERE stop_reason <> 'final_answer';
CREATE INDEX ix_rollouts_tools ON rollouts USING gin (rollout_tools(job_id, trace));

CREATE TABLE tuned_models (
    name text NOT NULL,
    project_id text NOT NULL,
    job_id text NOT NULL,
    base_model text NOT NULL,
    engine_name text NOT NULL,
    object_key text NOT NULL,
    step integer NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    reasoning_effort text,
    CONSTRAINT pk_tuned_models PRIMARY KEY (project_id, name),
    CONSTRAINT uq_tuned_models_engine_name UNIQUE (engine_name),
    CONSTRAINT fk_tuned_models_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);

CREATE TABLE uploads (
    id text NOT NULL,
    project_id text NOT NULL,
    filename text NOT NULL,
    purpose text NOT NULL,
    mime_type text NOT NULL,
    bytes bigint NOT NULL,
    status text NOT NULL,
    file_expires_after_s integer,
    file_id text,
    part_ids text[] DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_uploads PRIMARY KEY (project_id, id),
    CONSTRAINT fk_uploads_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_uploads_expires_at ON uploads (expires_at);

CREATE TABLE upload_parts (
    id text NOT NULL,
    project_id text NOT NULL,
    upload_id text NOT NULL,
    bytes bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_upload_parts PRIMARY KEY (project_id, id),
    CONSTRAINT fk_upload_parts_project_id_upload_id_uploads
        FOREIGN KEY (project_id, upload_id) REFERENCES uploads ON DELETE CASCADE
);
CREATE INDEX ix_upload_parts_project_id_upload_id ON upload_parts (project_id, upload_id);

CREATE TABLE registered_objects (
    id text NOT NULL,
    project_id text NOT NULL,
    noun text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT pk_registered_objects PRIMARY KEY (project_id, id),
    CONSTRAINT fk_registered_objects_project_id_projects
        FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_registered_objects_project_id_noun_created_at_id
    ON registered_objects (project_id, noun, created_at, id);
CREATE UNIQUE INDEX uq_registered_objects_living_name
    ON registered_objects (project_id, noun, name) WHERE deleted_at IS NULL;

CREATE TABLE registered_versions (
    project_id text NOT NULL,
    object_id text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    definition jsonb NOT NULL,
    secrets bytea,
    metadata jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_registered_versions PRIMARY KEY (project_id, object_id, version),
    CONSTRAINT fk_registered_versions_project_id_object_id_registered_objects
        FOREIGN KEY (project_id, object_id) REFERENCES registered_objects ON DELETE CASCADE
);

CREATE TABLE webhook_endpoints (
    id text NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    event_types text[] NOT NULL,
    secrets bytea NOT NULL,
    secret_hint text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    disabled_at timestamptz,
    last_failed_at timestamptz,
    subscribed_at jsonb NOT NULL,
    CONSTRAINT pk_webhook_endpoints PRIMARY KEY (project_id, id),
    CONSTRAINT fk_webhook_endpoints_project_id_projects
        FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_webhook_endpoints_project_id_created_at_id
    ON webhook_endpoints (project_id, created_at, id);

CREATE TABLE webhook_events (
    id text NOT NULL,
    project_id text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook_events PRIMARY KEY (project_id, id),
    CONSTRAINT fk_webhook_events_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_webhook_events_created_at ON webhook_events (created_at);

CREATE TABLE webhook_deliveries (
    id text NOT NULL,
    project_id text NOT NULL,
    endpoint_id text NOT NULL,
    event_id text NOT NULL,
    status text DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_status_code integer,
    last_error text,
    next_attempt_at timestamptz DEFAULT now() NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    fence bigint DEFAULT '0' NOT NULL,
    lease_until timestamptz,
    CONSTRAINT pk_webhook_deliveries PRIMARY KEY (project_id, id),
    CONSTRAINT fk_webhook_deliveries_project_id_endpoint_id_webhook_endpoints
        FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoints ON DELETE CASCADE,
    CONSTRAINT fk_webhook_deliveries_project_id_event_id_webhook_events
        FOREIGN KEY (project_id, event_id) REFERENCES webhook_events ON DELETE CASCADE
);
CREATE INDEX ix_webhook_deliveries_due
    ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX ix_webhook_deliveries_held
    ON webhook_deliveries (lease_until) WHERE status = 'pending' AND lease_until IS NOT NULL;
CREATE INDEX ix_webhook_deliveries_next
    ON webhook_deliveries (project_id, endpoint_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX ix_webhook_deliveries_project_id_endpoint_id_created_at_id
    ON webhook_deliveries (project_id, endpoint_id, created_at, id);
CREATE UNIQUE INDEX ix_webhook_deliveries_project_id_event_id_endpoint_id
    ON webhook_deliveries (project_id, event_id, endpoint_id);

CREATE TABLE checkpoint_permissions (
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text NOT NULL,
    model_name text NOT NULL,
    target_project_id text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_checkpoint_permissions PRIMARY KEY (project_id, id),
    CONSTRAINT uq_checkpoint_permissions_grant UNIQUE (project_id, model_name, target_project_id),
    CONSTRAINT fk_checkpoint_permissions_model
        FOREIGN KEY (project_id, model_name) REFERENCES tuned_models ON DELETE CASCADE,
    CONSTRAINT fk_checkpoint_permissions_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id),
    CONSTRAINT fk_checkpoint_permissions_target
        FOREIGN KEY (organization_id, target_project_id) REFERENCES projects (organization_id, id)
);
CREATE INDEX ix_checkpoint_permissions_project_id_model_name_created_at_id
    ON checkpoint_permissions (project_id, model_name, created_at, id);
CREATE INDEX ix_checkpoint_permissions_target_project_id
    ON checkpoint_permissions (target_project_id);

CREATE TABLE evals (
    id text NOT NULL,
    project_id text NOT NULL,
    job_id text,
    name text NOT NULL,
    data_source_config jsonb NOT NULL,
    testing_criteria jsonb NOT NULL,
    secrets bytea,
    metadata jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    bytes bigint GENERATED ALWAYS AS (
        octet_length(data_source_config::text) + octet_length(testing_criteria::text)
    ) STORED NOT NULL,
    CONSTRAINT pk_evals PRIMARY KEY (project_id, id),
    CONSTRAINT fk_evals_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE,
    CONSTRAINT fk_evals_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_evals_project_id_created_at_id ON evals (project_id, created_at, id);
CREATE INDEX ix_evals_project_id_updated_at_id ON evals (project_id, updated_at, id);

CREATE TABLE eval_runs (
    id text NOT NULL,
    project_id text NOT NULL,
    eval_id text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    model text,
    data_source jsonb NOT NULL,
    metadata jsonb,
    error jsonb,
    passed integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    errored integer DEFAULT 0 NOT NULL,
    criteria jsonb NOT NULL,
    usage jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    fence bigint DEFAULT '0' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_until timestamptz,
    dispatched_at timestamptz,
    queued_at timestamptz DEFAULT now() NOT NULL,
    turn double precision,
    not_before timestamptz,
    bytes bigint GENERATED ALWAYS AS (octet_length(data_source::text)) STORED NOT NULL,
    planned_items bigint DEFAULT '10000' NOT NULL,
    CONSTRAINT pk_eval_runs PRIMARY KEY (project_id, id),
    CONSTRAINT fk_eval_runs_project_id_eval_id_evals
        FOREIGN KEY (project_id, eval_id) REFERENCES evals ON DELETE CASCADE
);
CREATE INDEX ix_eval_runs_held ON eval_runs (lease_until) WHERE status IN ('queued', 'in_progress');
CREATE UNIQUE INDEX ix_eval_runs_id ON eval_runs (id);
CREATE INDEX ix_eval_runs_open
    ON eval_runs (status, dispatched_at) WHERE status IN ('queued', 'in_progress');
CREATE INDEX ix_eval_runs_project_id_eval_id_created_at_id
    ON eval_runs (project_id, eval_id, created_at, id);
CREATE INDEX ix_eval_runs_project_id_turn ON eval_runs (project_id, turn);
CREATE INDEX ix_eval_runs_turn ON eval_runs (turn);
CREATE INDEX ix_eval_runs_waiting
    ON eval_runs (project_id, queued_at, created_at, id) WHERE status IN ('queued', 'in_progress');

CREATE TABLE eval_output_items (
    id text NOT NULL,
    project_id text NOT NULL,
    run_id text NOT NULL,
    eval_id text NOT NULL,
    "position" integer NOT NULL,
    status text NOT NULL,
    datasource_item jsonb NOT NULL,
    results jsonb NOT NULL,
    sample jsonb NOT NULL,
    usage jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_eval_output_items PRIMARY KEY (project_id, id),
    CONSTRAINT uq_eval_output_items_project_id_run_id_position
        UNIQUE (project_id, run_id, "position"),
    CONSTRAINT fk_eval_output_items_project_id_run_id_eval_runs
        FOREIGN KEY (project_id, run_id) REFERENCES eval_runs ON DELETE CASCADE
);

CREATE TABLE service_accounts (
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT pk_service_accounts PRIMARY KEY (project_id, id),
    CONSTRAINT fk_service_accounts_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id)
);
CREATE INDEX ix_service_accounts_living
    ON service_accounts (project_id, created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE api_keys (
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text,
    kind text NOT NULL,
    name text NOT NULL,
    key_id text NOT NULL,
    secret_hmac bytea NOT NULL,
    last4 text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    project_archived_at timestamptz,
    last_used_at timestamptz,
    service_account_id text,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT uq_api_keys_key_id UNIQUE (key_id),
    CONSTRAINT ck_api_keys_admin_has_no_project CHECK ((kind = 'admin') = (project_id IS NULL)),
    CONSTRAINT fk_api_keys_organization_id_organizations
        FOREIGN KEY (organization_id) REFERENCES organizations,
    CONSTRAINT fk_api_keys_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id),
    CONSTRAINT fk_api_keys_project_id_service_account_id_service_accounts
        FOREIGN KEY (project_id, service_account_id) REFERENCES service_accounts
);
CREATE INDEX ix_api_keys_living
    ON api_keys (organization_id, project_id, created_at, id) WHERE revoked_at IS NULL;
CREATE INDEX ix_api_keys_living_admin
    ON api_keys (organization_id, created_at, id) WHERE project_id IS NULL AND revoked_at IS NULL;
CREATE INDEX ix_api_keys_service_account ON api_keys (project_id, service_account_id);

CREATE TABLE stored_responses (
    scope text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status integer,
    content_type text,
    body bytea,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_stored_responses PRIMARY KEY (scope, key)
);
CREATE INDEX ix_stored_responses_created_at ON stored_responses (created_at);

CREATE TABLE event_log (
    seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id text NOT NULL,
    project_id text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    "position" bigint,
    CONSTRAINT pk_event_log PRIMARY KEY (seq),
    CONSTRAINT fk_event_log_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE UNIQUE INDEX ix_event_log_position ON event_log ("position") WHERE "position" IS NOT NULL;
CREATE INDEX ix_event_log_unsequenced ON event_log (seq) WHERE "position" IS NULL;

CREATE TABLE event_cursors (
    consumer text NOT NULL,
    scope text NOT NULL,
    "position" bigint DEFAULT '0' NOT NULL,
    fence bigint DEFAULT '0' NOT NULL,
    lease_until timestamptz,
    CONSTRAINT pk_event_cursors PRIMARY KEY (consumer, scope)
);

CREATE TABLE model_exports (
    id text NOT NULL,
    project_id text NOT NULL,
    status text NOT NULL,
    model text NOT NULL,
    base_model text NOT NULL,
    kind text NOT NULL,
    stage text,
    object_key text,
    bytes bigint NOT NULL,
    error jsonb,
    created_at timestamptz DEFAULT now() NOT NULL,
    queued_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    expires_at timestamptz,
    deleted_at timestamptz,
    fence bigint DEFAULT '0' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_until timestamptz,
    dispatched_at timestamptz,
    not_before timestamptz,
    turn double precision,
    CONSTRAINT pk_model_exports PRIMARY KEY (project_id, id),
    CONSTRAINT fk_model_exports_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_model_exports_expiring ON model_exports (expires_at);
CREATE INDEX ix_model_exports_held
    ON model_exports (lease_until) WHERE status IN ('queued', 'in_progress');
CREATE UNIQUE INDEX ix_model_exports_id ON model_exports (id);
CREATE INDEX ix_model_exports_project_id_model_created_at_id
    ON model_exports (project_id, model, created_at, id);
CREATE INDEX ix_model_exports_project_id_turn ON model_exports (project_id, turn);
CREATE INDEX ix_model_exports_turn ON model_exports (turn);
CREATE INDEX ix_model_exports_waiting
    ON model_exports (project_id, queued_at, created_at, id)
    WHERE status IN ('queued', 'in_progress');
CREATE UNIQUE INDEX uq_model_exports_open
    ON model_exports (project_id, model, kind) WHERE status IN ('queued', 'in_progress');

CREATE TABLE dashboard_sessions (
    id text NOT NULL,
    kind text NOT NULL,
    project_id text,
    key_id text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    organization_id text,
    CONSTRAINT pk_dashboard_sessions PRIMARY KEY (id),
    CONSTRAINT ck_dashboard_sessions_kind CHECK (kind IN ('session', 'link')),
    CONSTRAINT ck_dashboard_sessions_owner
        CHECK ((project_id IS NULL) <> (organization_id IS NULL)),
    CONSTRAINT fk_dashboard_sessions_organization_id_organizations
        FOREIGN KEY (organization_id) REFERENCES organizations,
    CONSTRAINT fk_dashboard_sessions_project_id_projects
        FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_dashboard_sessions_expires_at ON dashboard_sessions (expires_at);
CREATE INDEX ix_dashboard_sessions_organization_id ON dashboard_sessions (organization_id);
CREATE INDEX ix_dashboard_sessions_project_id ON dashboard_sessions (project_id);

CREATE TABLE organization_virtual_times (
    queue text NOT NULL,
    organization_id text NOT NULL,
    virtual_time double precision NOT NULL,
    project_virtual_time double precision NOT NULL,
    CONSTRAINT pk_organization_virtual_times PRIMARY KEY (queue, organization_id),
    CONSTRAINT fk_organization_virtual_times_organization_id_organizations
        FOREIGN KEY (organization_id) REFERENCES organizations
);
CREATE INDEX ix_organization_virtual_times_queue_virtual_time
    ON organization_virtual_times (queue, virtual_time);

CREATE TABLE audit_logs (
    seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text,
    type text NOT NULL,
    resource_id text NOT NULL,
    details jsonb NOT NULL,
    actor_kind text NOT NULL,
    actor_id text NOT NULL,
    address text NOT NULL,
    effective_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_audit_logs PRIMARY KEY (seq),
    CONSTRAINT fk_audit_logs_organization_id_organizations
        FOREIGN KEY (organization_id) REFERENCES organizations,
    CONSTRAINT fk_audit_logs_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id)
);
CREATE INDEX ix_audit_logs_effective_at ON audit_logs USING brin (effective_at);
CREATE UNIQUE INDEX ix_audit_logs_id ON audit_logs (id);
CREATE INDEX ix_audit_logs_organization_id_seq ON audit_logs (organization_id, seq);

CREATE TABLE usage_records (
    id text NOT NULL,
    organization_id text NOT NULL,
    project_id text NOT NULL,
    kind text NOT NULL,
    key_id text NOT NULL,
    model text NOT NULL,
    job_id text,
    used_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    requests bigint DEFAULT '0' NOT NULL,
    input_tokens bigint DEFAULT '0' NOT NULL,
    output_tokens bigint DEFAULT '0' NOT NULL,
    cached_tokens bigint DEFAULT '0' NOT NULL,
    trained_tokens bigint DEFAULT '0' NOT NULL,
    rollouts bigint DEFAULT '0' NOT NULL,
    tool_calls bigint DEFAULT '0' NOT NULL,
    grader_calls bigint DEFAULT '0' NOT NULL,
    judge_input_tokens bigint DEFAULT '0' NOT NULL,
    judge_output_tokens bigint DEFAULT '0' NOT NULL,
    training_s double precision DEFAULT '0' NOT NULL,
    gpu_s double precision DEFAULT '0' NOT NULL,
    cost double precision,
    currency text,
    CONSTRAINT pk_usage_records PRIMARY KEY (project_id, id),
    CONSTRAINT fk_usage_records_organization_id_project_id_projects
        FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id)
);
CREATE INDEX ix_usage_records_organization_id_kind_used_at
    ON usage_records (organization_id, kind, used_at);
CREATE INDEX ix_usage_records_project_id_kind_used_at ON usage_records (project_id, kind, used_at);
CREATE INDEX ix_usage_records_used_at ON usage_records USING brin (used_at);

CREATE TABLE students (
    project_id text NOT NULL,
    name text NOT NULL,
    base_model text NOT NULL,
    regression_sets jsonb NOT NULL,
    current_skill text,
    edited_instructions jsonb DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_students PRIMARY KEY (project_id, name),
    CONSTRAINT fk_students_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);

CREATE TABLE skills (
    project_id text NOT NULL,
    id text NOT NULL,
    student text NOT NULL,
    job_id text NOT NULL,
    model text NOT NULL,
    baseline text NOT NULL,
    status text NOT NULL,
    reason text,
    runs jsonb NOT NULL,
    comparisons jsonb NOT NULL,
    instructions text,
    promoted_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_skills PRIMARY KEY (project_id, id),
    CONSTRAINT fk_skills_project_id_student_students
        FOREIGN KEY (project_id, student) REFERENCES students ON DELETE CASCADE
);
CREATE INDEX ix_skills_project_id_student_created_at_id
    ON skills (project_id, student, created_at, id);

CREATE TABLE stored_completions (
    id text NOT NULL,
    project_id text NOT NULL,
    model text NOT NULL,
    end_user text,
    metadata jsonb,
    request jsonb NOT NULL,
    reply jsonb NOT NULL,
    bytes bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_stored_completions PRIMARY KEY (project_id, id),
    CONSTRAINT fk_stored_completions_project_id_projects
        FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_stored_completions_created_at ON stored_completions (created_at);
CREATE INDEX ix_stored_completions_project_id_created_at_id
    ON stored_completions (project_id, created_at, id);
CREATE INDEX ix_stored_completions_project_id_end_user ON stored_completions (project_id, end_user);

CREATE TABLE feedback (
    id text NOT NULL,
    project_id text NOT NULL,
    type text NOT NULL,
    author text,
    end_user text,
    comment text,
    completion_id text,
    rejected_completion_id text,
    rollout_id text,
    rating text,
    content jsonb NOT NULL,
    bytes bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_feedback PRIMARY KEY (project_id, id),
    CONSTRAINT fk_feedback_project_id_completion_id_stored_completions
        FOREIGN KEY (project_id, completion_id) REFERENCES stored_completions ON DELETE CASCADE,
    CONSTRAINT fk_feedback_project_id_projects FOREIGN KEY (project_id) REFERENCES projects,
    CONSTRAINT fk_feedback_project_id_rejected_completion_id_stored_co_8170
        FOREIGN KEY (project_id, rejected_completion_id)
        REFERENCES stored_completions ON DELETE CASCADE,
    CONSTRAINT fk_feedback_project_id_rollout_id_rollouts
        FOREIGN KEY (project_id, rollout_id) REFERENCES rollouts ON DELETE CASCADE
);
CREATE INDEX ix_feedback_created_at ON feedback (created_at);
CREATE INDEX ix_feedback_project_id_author ON feedback (project_id, author);
CREATE INDEX ix_feedback_project_id_completion_id ON feedback (project_id, completion_id);
CREATE INDEX ix_feedback_project_id_created_at_id ON feedback (project_id, created_at, id);
CREATE INDEX ix_feedback_project_id_end_user ON feedback (project_id, end_user);
CREATE INDEX ix_feedback_project_id_rejected_completion_id
    ON feedback (project_id, rejected_completion_id);
CREATE INDEX ix_feedback_project_id_rollout_id ON feedback (project_id, rollout_id);

CREATE TABLE feedback_builds (
    id text NOT NULL,
    project_id text NOT NULL,
    curriculum_id text,
    curriculum_version integer,
    report jsonb NOT NULL,
    people text[] NOT NULL,
    removed_people text[] DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    file_ids text[] DEFAULT '{}' NOT NULL,
    learned jsonb DEFAULT '[]' NOT NULL,
    CONSTRAINT pk_feedback_builds PRIMARY KEY (project_id, id),
    CONSTRAINT fk_feedback_builds_project_id_projects FOREIGN KEY (project_id) REFERENCES projects
);
CREATE INDEX ix_feedback_builds_people ON feedback_builds USING gin (people);
CREATE INDEX ix_feedback_builds_project_id_created_at_id
    ON feedback_builds (project_id, created_at, id);

CREATE TABLE coach_sessions (
    id text NOT NULL,
    project_id text NOT NULL,
    organization_id text NOT NULL,
    organization_slug text NOT NULL,
    key_id text NOT NULL,
    student text NOT NULL,
    status text NOT NULL,
    training_file text NOT NULL,
    validation_file text NOT NULL,
    outcome text,
    reason text,
    options jsonb NOT NULL,
    method jsonb NOT NULL,
    progress jsonb NOT NULL,
    metadata jsonb,
    secrets bytea,
    fence bigint DEFAULT '0' NOT NULL,
    lease_until timestamptz,
    finished_at timestamptz,
    next_step_at timestamptz DEFAULT now() NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    claimed_at timestamptz,
    CONSTRAINT pk_coach_sessions PRIMARY KEY (project_id, id),
    CONSTRAINT fk_coach_sessions_project_id_student_students
        FOREIGN KEY (project_id, student) REFERENCES students ON DELETE CASCADE
);
CREATE INDEX ix_coach_sessions_due ON coach_sessions (next_step_at) WHERE status = 'running';
CREATE INDEX ix_coach_sessions_project_id_created_at_id
    ON coach_sessions (project_id, created_at, id);
CREATE UNIQUE INDEX uq_coach_sessions_open
    ON coach_sessions (project_id, student) WHERE status IN ('running', 'paused');

CREATE TABLE coach_entries (
    project_id text NOT NULL,
    session_id text NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    number integer NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_coach_entries PRIMARY KEY (project_id, session_id, number),
    CONSTRAINT fk_coach_entries_project_id_session_id_coach_sessions
        FOREIGN KEY (project_id, session_id) REFERENCES coach_sessions ON DELETE CASCADE
);

CREATE TABLE job_metric_blocks (
    project_id text NOT NULL,
    job_id text NOT NULL,
    name text NOT NULL,
    split text NOT NULL,
    size integer NOT NULL,
    block integer NOT NULL,
    points integer NOT NULL,
    total double precision NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    first double precision NOT NULL,
    last double precision NOT NULL,
    low_step integer NOT NULL,
    high_step integer NOT NULL,
    first_step integer NOT NULL,
    last_step integer NOT NULL,
    CONSTRAINT pk_job_metric_blocks PRIMARY KEY (job_id, size, name, split, block),
    CONSTRAINT fk_job_metric_blocks_project_id_job_id_fine_tuning_jobs
        FOREIGN KEY (project_id, job_id) REFERENCES fine_tuning_jobs ON DELETE CASCADE
);
