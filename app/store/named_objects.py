"""Queries for the objects that the rows of all tenants refer to, as text for the superuser's
`psql`.

A backup runs them within the snapshot that it dumps, so they cannot go through a unit of work.
"""

from typing import Final

from app.domain.jobs.jobs import ENDED
from app.domain.models.models import CHECKPOINT_NAMES

_STATES: Final = ", ".join(f"'{state}'" for state in ENDED)
_UNFINISHED: Final = f"status NOT IN ({_STATES})"
NAMED_OBJECTS: Final = f"""
SELECT object_key FROM files WHERE deleted_at IS NULL
UNION
SELECT format('projects/%s/uploads/%s/%s', part.project_id, part.upload_id, part.id)
FROM upload_parts AS part JOIN uploads ON (uploads.project_id, uploads.id)
    = (part.project_id, part.upload_id)
WHERE uploads.status = 'pending' AND uploads.expires_at > now()
UNION
SELECT model.object_key FROM tuned_models AS model JOIN fine_tuning_jobs AS job
    ON (job.project_id, job.id) = (model.project_id, model.job_id)
WHERE model.deleted_at IS NULL AND NOT (model.name ~ '{CHECKPOINT_NAMES}'
    AND job.kept_checkpoints IS NOT NULL AND NOT job.kept_checkpoints @> to_jsonb(model.step))
UNION
SELECT unnest(ARRAY[resume_key, adapter_key]) FROM fine_tuning_jobs WHERE {_UNFINISHED}
UNION
SELECT object_key FROM model_exports
WHERE status = 'completed' AND deleted_at IS NULL AND expires_at > now();
"""  # noqa: S608 - constants
"""Keys of all objects and directories that rows refer to and that may still be read."""
UNFINISHED_JOBS: Final = f"""
SELECT format('projects/%s/jobs/%s', project_id, id) FROM fine_tuning_jobs WHERE {_UNFINISHED};
"""  # noqa: S608 - constants
"""Directories of jobs that have not ended."""
BEGIN_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
EXPORT_SNAPSHOT: Final = "SELECT pg_export_snapshot();"
SCHEMA_REVISION: Final = "SELECT version_num FROM alembic_version;"
