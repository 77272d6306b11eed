"""Jobs: create, look at, cancel, pause, resume. A job is a row first and a message second."""

import asyncio
import secrets
import time
from dataclasses import dataclass, replace
from typing import Final, assert_never

import structlog

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, Unavailable
from app.domain.evals.evals import Eval, eval_of_job
from app.domain.ids import new_id
from app.domain.jobs.job_secrets import split_method
from app.domain.jobs.jobs import Job, JobStatus, NewJob, StopRequest, TuningMethod
from app.domain.jobs.requests import JobRequest
from app.domain.jobs.result_files import result_file
from app.domain.jobs.usage import NO_CAPS, Caps
from app.domain.methods.faults import reinforcement_faults
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.stored import (
    StoredDpo,
    StoredMethod,
    StoredReinforcement,
    StoredSupervised,
    stored_method,
)
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.models.models import (
    BASE_MODEL_UNSUPPORTED,
    BaseModelSpec,
    base_of,
    find_base_model,
    is_tuned_name,
)
from app.gateways.egress.egress import Egress
from app.gateways.job_queue import JobQueue
from app.gateways.objects import Objects, put_bytes
from app.gateways.secrets import SecretBox
from app.rendering.tool_use import tool_use
from app.services.jobs.creation_warnings import creation_warnings
from app.services.jobs.file_validation import FileValidation
from app.services.jobs.references import RegisteredReferences
from app.services.models.judge_models import JudgeModels
from app.services.registry.definition_check import check_definition
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()
_WAITING: Final = frozenset({JobStatus.VALIDATING_FILES, JobStatus.QUEUED})


@dataclass(frozen=True, slots=True)
class JobPorts:
    """Clients of the service besides rows."""

    queue: JobQueue
    objects: Objects
    egress: Egress
    secret_box: SecretBox
    judge_models: JudgeModels
    references: RegisteredReferences
    file_validation: FileValidation


class JobService:
    def __init__(
        self,
        database: Database,
        ports: JobPorts,
        *,
        base_models: tuple[BaseModelSpec, ...],
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._ports = ports
        self._base_models = base_models
        self._tenant = tenant
        self._jobs = database.jobs(tenant)

    async def create(self, request: JobRequest) -> Job:
        """Insert a job and notify a worker. Raises `InvalidRequest` with the parameter at fault."""
        async with self._ports.references.resolved(request) as new:
            return await self._create(new)

    async def refusal(self, request: JobRequest) -> InvalidRequest | None:
        """Returns the error that `create` has for the call; it makes no job, and leaves out what
        only the insert knows: files, quotas.
        """
        try:
            async with self._ports.references.resolved(request) as new:
                await self._check(new)
        except InvalidRequest as error:
            return error
        return None

    async def _check(self, new: NewJob) -> str:
        """Returns the model's name. Raises `InvalidRequest` with the parameter at fault."""
        model = await self._resolve_model(new.model)
        await self._check_method(new.method, f"method.{new.method.kind}")
        await self._check_model(model, new.method)
        return model

    async def _create(self, new: NewJob) -> Job:
        model = await self._check(new)
        kind = new.method.kind
        sent = {"type": kind, kind: new.method.model_dump(mode="json", exclude_none=False)}
        shown, secrets = await asyncio.to_thread(split_method, sent)
        job = self._job(new, model, stored_method(shown))
        sealed = (
            self._ports.secret_box.seal(secrets, project_id=job.project_id, row_id=job.id)
            if secrets
            else None
        )
        stored = await self._jobs.insert_checked(
            job,
            secrets=sealed,
            job_eval=_eval_of(job),
            event_message=f"Created fine-tuning job: {job.id}",
            warnings=creation_warnings(new),
            after_commit=lambda: self._notify(job.id),
        )
        try:
            return await self._with_queue_position(stored)
        except Unavailable:  # the job is committed: a client that saw a 503 would create it again
            return stored

    async def _notify(self, job_id: str) -> None:
        await self._ports.queue.enqueue_run(job_id)
        self._ports.file_validation.start(self._tenant, job_id)

    async def get(self, job_id: str) -> Job:
        """Returns the job, with its position in the queue while it waits."""
        return await self._with_queue_position(await self._jobs.get(job_id))

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        metadata: dict[str, str] | None,
        without_metadata: bool,
    ) -> tuple[list[Job], bool]:
        async with self._database.tenant(self._tenant) as unit:
            jobs, more = await unit.jobs.page(
                after=after, limit=limit, metadata=metadata, without_metadata=without_metadata
            )
        return await self._with_queue_positions(jobs), more

    async def cancel(self, job_id: str) -> Job:
        """Ask for the end of a job; one that nobody runs yet ends at once."""
        return await self._stop(job_id, StopRequest.CANCEL)

    async def pause(self, job_id: str) -> Job:
        """Ask a job to stop after its last committed step; `resume` goes on from there."""
        return await self._stop(job_id, StopRequest.PAUSE)

    async def resume(self, job_id: str, caps: Caps = NO_CAPS) -> Job:
        """Queue a paused job again, with the caps that are given in place of its own."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.mark_queued(job_id, caps)
            await unit.events.append(
                job_id, level="info", type="message", message="Fine-tuning job resumed"
            )
            unit.after_commit(lambda: self._ports.queue.enqueue_run(job_id))
        return await self.get(job_id)

    async def delete(self, job_id: str) -> None:
        """Deletes an ended job; the model that it published stays callable. Raises `WrongState`
        for a job that has not ended, or whose checkpoints are in use.
        """
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.delete(job_id)

    async def _stop(self, job_id: str, request: StopRequest) -> Job:
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.request_stop(job_id, request)
            if job.status is JobStatus.CANCELLED and job.step > 0:
                job = await self._with_result_file(unit, job)
            if unit.wrote_end():
                unit.after_commit(self._ports.queue.enqueue_deliveries)
            if job.status in (JobStatus.CANCELLED, JobStatus.PAUSED):
                await unit.events.append(
                    job_id,
                    level="info",
                    type="message",
                    message=f"Fine-tuning job {job.status.value}",
                )
        return job

    async def _with_result_file(self, unit: UnitOfWork, job: Job) -> Job:
        """Stores the result file of a cancelled job, whose run can write no more."""
        points = await unit.metrics.curve(job.id, names=None, split=None, after_step=0)
        made = result_file(job, points)
        if made is None:
            return job
        row, content = made
        try:
            await put_bytes(self._ports.objects, row.object_key, content)
        except Unavailable as error:  # a full disk must not keep a job running
            log.warning("no result file written", job_id=job.id, error=str(error))
            return job
        await unit.files.insert(row)
        await unit.jobs.set_result_files(job.id, [row.id])
        return replace(job, result_files=[row.id])

    async def _with_queue_position(self, job: Job) -> Job:
        return (await self._with_queue_positions([job]))[0]

    async def _with_queue_positions(self, jobs: list[Job]) -> list[Job]:
        """Asks once for any number of jobs, and not at all when no job waits."""
        waiting = [job.id for job in jobs if job.status in _WAITING]
        if not waiting:
            return jobs
        positions = await self._jobs.queue_positions(waiting)
        return [replace(job, queue=positions.get(job.id)) for job in jobs]

    async def _resolve_model(self, name: str) -> str:
        """Dated name of a base model, or the name of a tuned one that the project may call."""
        base = find_base_model(self._base_models, name)
        if base is not None:
            return base.name
        if is_tuned_name(name):
            async with self._database.tenant(self._tenant) as unit:
                tuned = await unit.models.get(name)
            if tuned is not None and find_base_model(self._base_models, tuned.base_model):
                return tuned.name
        raise InvalidRequest(
            f"Model {name} is not available for fine-tuning or does not exist.",
            param="model",
            code="model_not_available",
        )

    async def _check_method(self, method: TuningMethod, path: str) -> None:
        """Raises `InvalidRequest` for a method that this installation cannot accept or call."""
        match method:
            case ReinforcementMethod():
                _check_tools(method)
                for fault in reinforcement_faults(method, path):
                    raise fault
            case SupervisedMethod() | DpoMethod():
                pass
            case _:
                assert_never(method)
        await check_definition(
            method, path, egress=self._ports.egress, models=self._ports.judge_models
        )

    async def _check_model(self, model: str, method: TuningMethod) -> None:
        """Raises `InvalidRequest` for a model that cannot call the tools of the job."""
        base = base_of(self._base_models, model)
        if base is None or not isinstance(method, ReinforcementMethod) or not method.tools:
            return
        fault = (await asyncio.to_thread(tool_use, base)).fault
        if fault is not None:
            raise InvalidRequest(
                f"Model {base.name} {fault}. Use another model, or a job without tools.",
                param="model",
                code=BASE_MODEL_UNSUPPORTED,
            )

    def _job(self, new: NewJob, model: str, method: StoredMethod) -> Job:
        return Job(
            id=new_id("ftjob-"),
            organization_id=self._tenant.organization_id,
            project_id=self._tenant.project_id,
            model=model,
            status=JobStatus.VALIDATING_FILES,
            training_file=new.training_file,
            validation_file=new.validation_file,
            seed=secrets.randbelow(2**31) if new.seed is None else new.seed,
            suffix=new.suffix,
            method=method,
            metadata=new.metadata,
            integrations=new.integrations,
            caps=new.caps,
            priority=new.priority,
            created_at=int(time.time()),
            key_id=self._tenant.key_id,
        )


def _eval_of(job: Job) -> Eval | None:
    """Returns the eval whose runs are the job's validations."""
    match job.method:
        case StoredReinforcement():
            return eval_of_job(job.id, job.method.options["grader"])
        case StoredSupervised() | StoredDpo():
            return None
        case _:
            assert_never(job.method)


def _check_tools(method: ReinforcementMethod) -> None:
    names = [tool.name for tool in method.tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidRequest(
            f"Tool '{twice}' is registered twice.",
            param="method.reinforcement.tools",
            code="invalid_value",
        )
