"""Creates jobs: resolves references, checks model and method, seals secrets, notifies a worker."""

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import assert_never

from app.database import Database
from app.evals.evals import Eval, eval_of_job
from app.jobs.call_checks import model_fault
from app.jobs.file_validation import FileValidation
from app.jobs.jobs import Job, JobStatus, NewJob, TuningMethod
from app.jobs.method_check import (
    CheckedMethod,
    check_attached_evals,
    check_integrations,
    check_quota,
    checked_method,
    integration_notices,
)
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.references import RegisteredReferences
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.reproducibility import split_integrations
from app.jobs.requests import JobRequest
from app.jobs.service import with_queue_position
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.errors import InvalidRequest, Unavailable
from app.kit.fields import Json
from app.kit.ids import new_id
from app.kit.job_queue import JobQueue
from app.kit.sealing import SecretBox
from app.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    base_of,
    find_base_model,
    is_tuned_name,
    not_offered,
    student_named,
    unknown_model,
    unknown_student,
)
from app.models.service import JudgeModels
from app.tools.definition_check import look_up


@dataclass(frozen=True, slots=True)
class CreationPorts:
    """Clients of the service, except the database, and the base models of the installation."""

    queue: JobQueue
    egress: Egress
    secret_box: SecretBox
    judge_models: JudgeModels
    references: RegisteredReferences
    file_validation: FileValidation
    base_models: tuple[BaseModelSpec, ...]


class JobCreationService:
    def __init__(self, database: Database, ports: CreationPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant
        self._jobs = database.jobs(tenant)

    async def create(self, request: JobRequest) -> Job:
        """Inserts a job and notifies a worker. Raises `InvalidRequest` with the parameter at
        fault.
        """
        async with self._ports.references.resolved(request) as new:
            return await self.create_resolved(new)

    async def refusal(self, request: JobRequest) -> InvalidRequest | None:
        """Returns the error that `create` would raise for the call, without creating a job; checks
        of the insert itself (files, quotas) are left out.
        """
        try:
            async with self._ports.references.resolved(request) as new:
                await self._check(new)
        except InvalidRequest as error:
            return error
        return None

    async def _check(self, new: NewJob) -> tuple[str, CheckedMethod]:
        """Returns the model's name and the method. Raises `InvalidRequest` with the parameter at
        fault.
        """
        model = await self._resolve_model(new.model)
        await check_integrations(
            new.integrations, egress=self._ports.egress, models=self._ports.judge_models
        )
        await check_attached_evals(self._database, self._tenant, new.evals)
        method = await asyncio.to_thread(checked_method, new)
        await look_up(
            [method.definition],
            egress=self._ports.egress,
            models=self._ports.judge_models,
            uncalled=method.uncalled,
        )
        base = base_of(self._ports.base_models, model)
        fault = await asyncio.to_thread(model_fault, base, runs_calls=_runs_calls(new.method))
        if fault is not None:
            raise fault
        return model, method

    async def create_resolved(self, new: NewJob) -> Job:
        """Inserts a job whose references are replaced by their definitions, as `create` does."""
        model, method = await self._check(new)
        await check_quota(self._database, self._tenant, new.evals)
        integrations, of_integrations = split_integrations(new.integrations)
        secrets = method.secrets | of_integrations
        job = self._job(new, model, method.stored, integrations)
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
            notices=_notices(new, job),
            warnings=method.warnings,
            after_commit=lambda: self._notify(job.id),
        )
        try:
            return await with_queue_position(stored, self._jobs.queue_positions)
        except Unavailable:  # the job is committed: a client that saw a 503 would create it again
            return stored

    async def _notify(self, job_id: str) -> None:
        await self._ports.queue.enqueue_run(job_id)
        self._ports.file_validation.start(self._tenant, job_id)

    async def _resolve_model(self, name: str) -> str:
        """Returns the dated name of a base model, or the name of a tuned one that the project may
        call; for `student:NAME` the model that answers for the student now.
        """
        student, sent = student_named(name), name
        if student is not None:
            async with self._database.tenant(self._tenant) as unit:
                name = await unit.students.answering_model(student) or name
        base = find_base_model(self._ports.base_models, name)
        if base is not None:
            return base.name
        if is_tuned_name(name):
            async with self._database.tenant(self._tenant) as unit:
                tuned = await unit.models.get(name)
            if tuned is not None and find_base_model(self._ports.base_models, tuned.base_model):
                return tuned.name
            if tuned is not None:
                raise _unavailable(
                    f"Model {sent} cannot be trained on. {not_offered(tuned.base_model)}"
                )
        if student is not None and name == sent:
            raise _unavailable(unknown_student(student))
        raise _unavailable(unknown_model(sent, self._ports.base_models))

    def _job(self, new: NewJob, model: str, method: StoredMethod, integrations: list[Json]) -> Job:
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
            integrations=integrations,
            evals=new.evals,
            caps=new.caps,
            priority=new.priority,
            created_at=int(time.time()),
            key_id=self._tenant.key_id,
        )


def _unavailable(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="model", code=MODEL_NOT_AVAILABLE)


def _notices(new: NewJob, job: Job) -> list[str]:
    choice = new.grader_choice
    chosen = [] if choice is None else [f"Chose a grader of type {choice.kind}. {choice.reason}"]
    return chosen + integration_notices(job)


def _eval_of(job: Job) -> Eval | None:
    """Returns the eval whose runs are the job's validations."""
    match job.method:
        case StoredReinforcementMethod():
            return eval_of_job(job.id, job.method.options["grader"])
        case StoredSupervisedMethod() | StoredDpoMethod():
            return None
        case _:
            assert_never(job.method)


def _runs_calls(method: TuningMethod) -> bool:
    match method:
        case ReinforcementMethod(runs_calls=runs_calls):
            return runs_calls
        case SupervisedMethod() | DpoMethod():
            return False
        case _:
            assert_never(method)
