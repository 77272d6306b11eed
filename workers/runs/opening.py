"""Opens a claimed run: row, secrets, start model, resumed state, way of computing."""

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import structlog
from pydantic import ValidationError

from app.database import Database, RunUnitOfWork
from app.files.rows import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, MIN_EXAMPLES, DatasetError
from app.jobs.call_checks import inspection_request
from app.jobs.jobs import Job, ResumePoint, TuningMethod
from app.jobs.learning import trains_in_order
from app.jobs.methods import stored_method
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.results import ClaimMachine, reproducibility, restored_method
from app.kit.directories import ManifestMismatch
from app.kit.errors import SECRETS_LOST, AgentRftError, NotFound, RunFailed, SecretsLost
from app.kit.faults import refused_today
from app.kit.ids import OrganizationId
from app.kit.leases import Lease
from app.kit.objects import Objects
from app.kit.sealing import build_secret_box
from app.models.adapters import CONFIG_FILE
from app.models.compute import ComputeChoice
from app.models.engine import EngineUnavailable
from app.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    find_base_model,
    is_tuned_name,
    not_offered,
)
from app.settings import ComputeSettings, Settings
from app.tools.mcp_listings import SERVERS
from workers.compute import (
    describe_computation,
    describe_processor,
    is_accelerated,
    run_on_compute_thread,
)
from workers.learning.trainer import (
    Trainer,
    TrainerOptions,
    TrainerSettings,
    machine_options,
    saved_settings,
)
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import ADAPTER, SCHEDULER, STATE, JobDirectories, RunContext
from workers.runs.step_outcome import load_scheduler_state


async def open_run(clients: Clients, lease: Lease, scratch: Path) -> RunContext:
    """Raises `LeaseLost`, or `RunFailed` when the start model or the secrets are gone."""

    async def read() -> tuple[Job, bytes | None]:
        async with clients.database.run(lease.project_id, lease.id, lease.fence) as unit:
            return await unit.jobs.get(lease.id), await unit.jobs.secrets(lease.id)

    job, sealed = await retry_while_unavailable(read)
    method = _method(clients.settings, job, sealed)
    base, adapter = await _start_model(clients, job, lease.fence, scratch)
    return RunContext(
        settings=clients.settings,
        database=clients.database,
        objects=clients.objects,
        egress=clients.egress,
        inference=clients.inference,
        job=job,
        fence=lease.fence,
        scratch=scratch,
        organization_slug=await retry_while_unavailable(lambda: _slug(clients.database, job)),
        base_model=base,
        method=method,
        judge_egress=clients.judge_egress,
        start=adapter,
    )


async def _slug(database: Database, job: Job) -> str:
    organization_id = OrganizationId(job.organization_id)
    async with database.organization(organization_id) as unit:
        return (await unit.projects.get_organization(organization_id)).slug


def _method(settings: Settings, job: Job, sealed: bytes | None) -> TuningMethod:
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


_ADAPTER: Final = "adapter"


async def _start_model(
    clients: Clients, job: Job, fence: int, scratch: Path
) -> tuple[BaseModelSpec, Path | None]:
    """Raises `LeaseLost`, `RunFailed`. The base gets rank and alpha of the start's adapter."""
    base = find_base_model(clients.settings.base_models, job.model)
    if base is not None:
        return base, None
    if not is_tuned_name(job.model):
        raise _gone(
            f"Base model {job.model} is not offered any more. Ask the operator to name its "
            "directory in AGENT_RFT_BASE_MODELS, or create the job again with another model."
        )
    key = f"projects/{job.project_id}/jobs/{job.id}/start"
    own = JobDirectories(clients.objects, key, scratch / "start")
    try:
        adapter = await own.fetch(_ADAPTER)
    except FileNotFoundError:
        source_key = await _object_key(clients.database, job, fence)
        await _copy(clients.objects, source_key, own, model=job.model)
        adapter = own.path(_ADAPTER)
    except ManifestMismatch as error:
        raise RunFailed(
            f"The adapter that the job starts from cannot be used ({error}). Create the job again.",
            code="state_damaged",
        ) from error
    return await asyncio.to_thread(_described, clients.settings, adapter), adapter


async def _object_key(database: Database, job: Job, fence: int) -> str:
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


def _described(settings: Settings, adapter: Path) -> BaseModelSpec:
    config = json.loads((adapter / CONFIG_FILE).read_text(encoding="utf-8"))
    name = config["base_model_name_or_path"]
    base = find_base_model(settings.base_models, name)
    if base is None:
        raise _gone(f"The job cannot start from a tuned model. {not_offered(name)}")
    rank_and_alpha = {"lora_rank": config["r"], "lora_alpha": float(config["lora_alpha"])}
    return base.model_copy(update=rank_and_alpha)


log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ResumedState:
    step: int
    """0 for a fresh run."""
    adapter: Path | None = None
    scheduler_state: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    rank: int
    alpha: float
    learning_rate: float


async def adapter_settings_of_resume(
    context: RunContext, *, learning_rate: float
) -> AdapterSettings:
    """Of the last committed state: later changes by the operator apply to new jobs only."""
    base, saved = context.base_model, await saved_trainer(context)
    if saved is None:
        return AdapterSettings(base.lora_rank, base.lora_alpha, learning_rate)
    return AdapterSettings(saved.rank, saved.alpha, saved.learning_rate)


async def saved_trainer(context: RunContext) -> TrainerSettings | None:
    """Returns the settings of the trainer of the last committed step; `None` without a state."""
    state_key = (await _resume_point(context)).state_key
    if state_key is None:
        return None
    with suppress(FileNotFoundError, ManifestMismatch):  # `restore` reports what is damaged
        path = await _committed(context, state_key).fetch(STATE)
        return await asyncio.to_thread(saved_settings, path)
    return None


async def committed_step(context: RunContext) -> int:
    return (await _resume_point(context)).step


async def restore(context: RunContext, trainer: Trainer) -> ResumedState:
    """Raises `RunFailed` when the saved state is damaged."""
    point = await _resume_point(context)
    step, state_key, adapter_key = point.step, point.state_key, point.adapter_key
    if step == 0 or state_key is None or adapter_key is None:
        return ResumedState(0)
    committed = _committed(context, state_key)
    try:
        await run_on_compute_thread(trainer.load_state, await committed.fetch(STATE))
        saved = await _scheduler_state(committed)
        adapter = await _committed(context, adapter_key).fetch(ADAPTER)
    except (FileNotFoundError, AgentRftError) as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used ({error}). Create the job again.",
            code="state_damaged",
        ) from error
    log.info("resumed", step=step)
    return ResumedState(step, adapter, saved)


async def fetch_adapter(context: RunContext, adapter_key: str) -> Path:
    step_key, _, _ = adapter_key.rpartition("/")
    scratch = context.scratch / "again" / step_key.rpartition("/")[2]
    return await JobDirectories(context.objects, step_key, scratch).fetch(ADAPTER)


async def _scheduler_state(committed: JobDirectories) -> dict[str, Any] | None:
    try:
        path = await committed.fetch(SCHEDULER)
    except FileNotFoundError:
        return None
    return await asyncio.to_thread(load_scheduler_state, path)


def _committed(context: RunContext, part_key: str) -> JobDirectories:
    step_key, _, _ = part_key.rpartition("/")
    return JobDirectories(context.objects, step_key, context.scratch / "resume")


async def _resume_point(context: RunContext) -> ResumePoint:
    return await context.in_unit(lambda unit: unit.jobs.resume_point())


def with_machine(
    options: TrainerOptions, context: RunContext, way: ComputeChoice | None
) -> TrainerOptions:
    """The base model's precision and sizes, else the installation's; and the way to compute."""
    sized = machine_options(options, context.base_model, context.settings.runs.memory)
    return sized if way is None else replace(sized, threads=way.threads, products=way.products)


async def way_to_compute(context: RunContext) -> ComputeChoice | None:
    """`None` on an accelerator. A state without a way was saved by one that computed as assumed."""
    if is_accelerated():
        return None
    saved = await saved_trainer(context)
    if saved is not None and saved.computes is not None:
        return ComputeChoice.model_validate(saved.computes)
    return await run_on_compute_thread(_chosen, context, measure=saved is None)


def _chosen(context: RunContext, *, measure: bool) -> ComputeChoice:
    from workers.learning.adapted_model import trainer_way  # noqa: PLC0415 - loads torch, on the compute thread

    settings = context.settings.compute if measure else ComputeSettings(measure=False)
    return trainer_way(context.base_model, settings, context.settings.data_dir / "compute")


async def record_reproducibility(context: RunContext) -> None:
    """Writes the job's record; a lost promise is never restored. Raises `LeaseLost`."""
    claim = await _machine(context)

    async def write(unit: RunUnitOfWork) -> None:
        before = (await unit.jobs.get(context.job.id)).reproducibility
        await unit.jobs.record_reproducibility(reproducibility(before, claim))

    await context.in_unit(write)


async def _machine(context: RunContext) -> ClaimMachine:
    method, engine, in_order = context.method, None, True
    samples = isinstance(method, ReinforcementMethod)
    if isinstance(method, ReinforcementMethod):
        in_order = trains_in_order(method.mode)
        with suppress(EngineUnavailable):  # the run waits for it; its record must not
            engine = await context.inference.machine(context.base_model.name)
    way = await way_to_compute(context)
    describe = describe_processor if way is None else partial(describe_computation, way)
    return ClaimMachine(
        trainer=await asyncio.to_thread(describe),
        accelerated=is_accelerated(),
        in_order=in_order,
        samples=samples,
        engine=engine,
    )


@dataclass(frozen=True, slots=True)
class JobFile:
    path: Path
    label: Literal["training", "validation"]
    max_rows: int

    def invalid(self, error: DatasetError) -> RunFailed:
        return RunFailed(
            f"Invalid file format. {error}",
            code=f"invalid_{self.label}_file",
            param=f"{self.label}_file",
        )

    def check_count(self, rows: int) -> None:
        if rows < MIN_EXAMPLES:
            raise RunFailed(
                f"{self.label.capitalize()} file has {rows} example(s), but must have at least "
                f"{MIN_EXAMPLES} examples",
                code="invalid_n_examples",
                param=f"{self.label}_file",
            )


async def training_file(context: RunContext) -> JobFile:
    path = await _fetched(context, "training", context.job.training_file)
    return JobFile(path, "training", MAX_TRAIN_EXAMPLES)


async def validation_file(context: RunContext) -> JobFile | None:
    file_id = context.job.validation_file
    if file_id is None:
        return None
    path = await _fetched(context, "validation", file_id)
    return JobFile(path, "validation", MAX_VALID_EXAMPLES)


async def _fetched(context: RunContext, label: str, file_id: str) -> Path:
    path = context.scratch / f"{label}.jsonl"

    async def fetch() -> None:
        async with context.unit() as unit:
            row = await unit.files.get_for_run(file_id)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        await context.objects.fetch(row.object_key, path)

    try:
        await retry_while_unavailable(fetch)
    except (NotFound, FileNotFoundError) as error:
        raise RunFailed(
            f"The {label} file {file_id} was deleted. Create the job again with another one.",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    return path


async def file_warnings(
    context: RunContext,
    training: JobFile,
    validation: JobFile | None,
    *,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> list[str]:
    """Without what the control plane has told; a run alone sees tools of new MCP servers."""
    is_validated = context.files_validated
    if is_validated and not shared_tools:
        return []
    request = inspection_request(
        {"method": context.job.method.document},
        context.base_model,
        training=training.path,
        validation=None if validation is None else validation.path,
        shared_tools=shared_tools,
    )

    def read() -> list[str]:
        from app.jobs.dataset_checks import inspect  # noqa: PLC0415 - imports tokenizers and templates

        report = inspect(request)
        return report.warnings_about(SERVERS) if is_validated else report.warnings

    return await asyncio.to_thread(read)


def rows_of_step(step: int, *, seed: int, row_count: int, batch_size: int) -> list[int]:
    """Every epoch has every row once, in its own order; its last batch may be shorter."""
    steps_per_epoch = -(-row_count // batch_size)
    epoch, position = divmod(step - 1, steps_per_epoch)
    order = list(range(row_count))
    random.Random(f"epoch/{seed}/{epoch}").shuffle(order)
    return order[position * batch_size : (position + 1) * batch_size]
