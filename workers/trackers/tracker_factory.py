"""Makes the tracker of an integration: on a thread, or in a process of its own.

Owns what an assignment is made from: the job, its sealed secrets, the operator's settings.
"""

from pathlib import Path
from typing import assert_never

from app.domain.documents.json_object import Json
from app.domain.errors import SecretsLost
from app.domain.jobs.integrations import LIBRARIES, is_local, local_directory
from app.domain.jobs.job_secrets import restored_integrations
from app.domain.jobs.jobs import Job
from app.gateways.secrets import build_secret_box
from app.gateways.trackers import is_installed
from app.settings.settings import Settings
from app.store.database import Database
from app.store.jobs.job_reader import job_reader
from workers.trackers.assignment import Assignment, WandbAccount
from workers.trackers.tracked_integrations import TrackedIntegration
from workers.trackers.tracker import Tracker, TrackerFault


async def open_tracker(
    database: Database, settings: Settings, tracked: TrackedIntegration
) -> Tracker:
    """Raises `TrackerFault`, or an error of the system."""
    if not is_installed(tracked.kind):
        extra = LIBRARIES[tracked.kind].extra
        raise TrackerFault(f"its library is not installed here: pip install 'agent-rft[{extra}]'")
    match tracked.kind:
        case "tensorboard":
            from workers.trackers.libraries.event_files import EventFiles  # noqa: PLC0415 - an optional library
            from workers.trackers.thread_tracker import ThreadTracker  # noqa: PLC0415 - beside its only use

            return ThreadTracker(EventFiles(_directory(settings, tracked)))
        case "wandb" | "mlflow" | "trackio":
            from workers.trackers.writer_process import WriterProcess  # noqa: PLC0415 - beside its only use

            return await WriterProcess.start(await _assignment(database, settings, tracked))
        case _:
            assert_never(tracked.kind)


async def _assignment(
    database: Database, settings: Settings, tracked: TrackedIntegration
) -> Assignment:
    async with job_reader(database, tracked.job.project_id) as unit:
        job = await unit.job(tracked.job.id)
        sealed = await unit.secrets(tracked.job.id)
    integration = _whole(settings, job, sealed)[tracked.position]
    options: Json = integration[tracked.kind]
    name = options.get("name") or options.get("run_name") or job.suffix or job.id
    return Assignment(
        kind=tracked.kind,
        directory=str(_directory(settings, tracked)),
        run_id=f"{job.id}-{tracked.position}" if tracked.position else job.id,
        name=name,
        options=options,
        is_local=is_local(integration),
        allow_endpoints=settings.egress.allow_endpoints,
        allow_plain_http=settings.egress.allow_plain_http,
        wandb=_account(settings) if tracked.kind == "wandb" else None,
    )


def _account(settings: Settings) -> WandbAccount:
    wandb = settings.wandb
    return WandbAccount(wandb.api_key.get_secret_value(), wandb.base_url, wandb.offline)


def _whole(settings: Settings, job: Job, sealed: bytes | None) -> list[Json]:
    try:
        opened: Json = {}
        if sealed is not None:
            box = build_secret_box(settings)
            opened = box.open(sealed, project_id=job.project_id, row_id=job.id)
        return restored_integrations(job.integrations, opened)
    except SecretsLost as error:
        raise TrackerFault("its stored credentials cannot be read any more") from error


def _directory(settings: Settings, tracked: TrackedIntegration) -> Path:
    job = tracked.job
    return settings.trackers_dir / local_directory(
        tracked.kind, tracked.position, project_id=job.project_id, job_id=job.id
    )
