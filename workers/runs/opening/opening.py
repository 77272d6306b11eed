"""Opens a claimed run: reads its row, unseals its headers, finds its start model."""

from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import SECRETS_LOST, RunFailed, SecretsLost
from app.domain.faults.values import refused_today
from app.domain.ids import OrganizationId
from app.domain.jobs.job_secrets import restored_method
from app.domain.jobs.jobs import Job, TuningMethod
from app.domain.methods.method_documents import stored_method
from app.gateways.egress.egress import Egress
from app.gateways.inference.inference import Inference
from app.gateways.objects import build_objects
from app.gateways.secrets import build_secret_box
from app.settings.settings import Settings
from app.store.database import Database
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.opening.starting_model import find_start_model


async def open_run(
    settings: Settings,
    database: Database,
    egress: Egress,
    inference: Inference,
    *,
    project_id: str,
    job_id: str,
    fence: int,
    scratch: Path,
    judge_egress: Egress | None = None,
) -> RunContext:
    """Returns the context. Raises `LeaseLost`, or `RunFailed` when the model that the job starts
    from no longer exists or its secrets are lost.
    """

    async def read() -> tuple[Job, bytes | None]:
        async with database.run(project_id, job_id, fence) as unit:
            return await unit.jobs.get(job_id), await unit.jobs.secrets(job_id)

    job, sealed = await retry_while_unavailable(read)
    method = _method(settings, job, sealed)
    objects = build_objects(settings)
    start = await find_start_model(settings, database, objects, job, fence=fence, scratch=scratch)
    return RunContext(
        settings=settings,
        database=database,
        objects=objects,
        egress=egress,
        inference=inference,
        job=job,
        fence=fence,
        scratch=scratch,
        organization_slug=await retry_while_unavailable(lambda: _slug(database, job)),
        base_model=start.base,
        method=method,
        judge_egress=judge_egress,
        start=start.adapter,
    )


async def _slug(database: Database, job: Job) -> str:
    organization_id = OrganizationId(job.organization_id)
    async with database.organization(organization_id) as unit:
        return (await unit.projects.get_organization(organization_id)).slug


def _method(settings: Settings, job: Job, sealed: bytes | None) -> TuningMethod:
    """Returns the method with its secrets unsealed. Raises `RunFailed` when they are lost, and for
    a value that an earlier version accepted and this one refuses.
    """
    secrets = {}
    try:
        if sealed is not None:
            box = build_secret_box(settings)
            secrets = box.open(sealed, project_id=job.project_id, row_id=job.id)
        whole = restored_method(job.method.document, secrets)
    except SecretsLost as error:
        raise RunFailed(
            "The stored secrets of this job cannot be read any more: create the job again with its "
            "urls and headers.",
            code=SECRETS_LOST,
        ) from error
    method = stored_method(whole)
    try:
        return method.parse()
    except ValidationError as error:
        raise refused_today("This job", f"method.{method.kind}", error) from error
