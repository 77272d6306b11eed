"""Finds the model that a job starts from: a base model, or one that was tuned before.

Owns the job's own copy of a tuned start's adapter, made by the first claim: a run that has begun
keeps it even if that model is deleted or unshared. The run then has the rank and alpha of the start
model. Imports no torch.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.domain.errors import RunFailed
from app.domain.jobs.jobs import Job
from app.domain.models.adapter_files import CONFIG_FILE
from app.domain.models.manifests import ManifestMismatch
from app.domain.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    find_base_model,
    is_tuned_name,
    not_offered,
)
from app.gateways.objects import Objects
from app.settings.settings import Settings
from app.store.database import Database
from workers.processes.retry import retry_while_unavailable
from workers.runs.directories import JobDirectories

_ADAPTER: Final = "adapter"


@dataclass(frozen=True, slots=True)
class StartModel:
    base: BaseModelSpec
    """The base model, with the rank and alpha that the run's adapter has."""
    adapter: Path | None = None
    """Directory of the tuned start."""


async def find_start_model(
    settings: Settings,
    database: Database,
    objects: Objects,
    job: Job,
    *,
    fence: int,
    scratch: Path,
) -> StartModel:
    """Finds the start model. Raises `LeaseLost`, or `RunFailed` when the model no longer exists."""
    base = find_base_model(settings.base_models, job.model)
    if base is not None:
        return StartModel(base)
    if not is_tuned_name(job.model):
        raise _gone(
            f"Base model {job.model} is not offered any more. Ask the operator to name its "
            "directory in AGENT_RFT_BASE_MODELS, or create the job again with another model."
        )
    key = f"projects/{job.project_id}/jobs/{job.id}/start"
    own = JobDirectories(objects, key, scratch / "start")
    try:
        adapter = await own.fetch(_ADAPTER)
    except FileNotFoundError:
        source_key = await _object_key(database, job, fence)
        await _copy(objects, source_key, own, model=job.model)
        adapter = own.path(_ADAPTER)
    except ManifestMismatch as error:
        raise RunFailed(
            f"The adapter that the job starts from cannot be used ({error}). Create the job again.",
            code="state_damaged",
        ) from error
    return await asyncio.to_thread(_described, settings, adapter)


async def _object_key(database: Database, job: Job, fence: int) -> str:
    """Returns where the adapter is stored: of the project's own model, or of a shared one."""

    async def read() -> str | None:
        async with database.run(job.project_id, job.id, fence) as unit:
            model = await unit.models.get(job.model)
        return None if model is None else model.object_key

    key = await retry_while_unavailable(read)
    if key is None:
        raise _gone(
            f"The model {job.model}, which the job starts from, was deleted or is not shared any "
            "more. Create the job again with another model."
        )
    return key


async def _copy(objects: Objects, source_key: str, own: JobDirectories, *, model: str) -> None:
    """Fetches the start's adapter and stores it as the job's own. Raises `RunFailed`."""
    try:
        await retry_while_unavailable(
            lambda: objects.fetch_directory(source_key, own.path(_ADAPTER))
        )
    except (OSError, ManifestMismatch) as error:
        raise _gone(
            f"The adapter of {model} is gone from the object storage or damaged there. Create the "
            "job again with another model."
        ) from error
    await own.store(_ADAPTER)


def _gone(message: str) -> RunFailed:
    return RunFailed(message, code=MODEL_NOT_AVAILABLE, param="model")


def _described(settings: Settings, adapter: Path) -> StartModel:
    config = json.loads((adapter / CONFIG_FILE).read_text(encoding="utf-8"))
    name = config["base_model_name_or_path"]
    base = find_base_model(settings.base_models, name)
    if base is None:
        raise _gone(f"The job cannot start from a tuned model. {not_offered(name)}")
    rank_and_alpha = {"lora_rank": config["r"], "lora_alpha": float(config["lora_alpha"])}
    return StartModel(base.model_copy(update=rank_and_alpha), adapter)
