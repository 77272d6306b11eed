"""Validates the files of new jobs that no worker has claimed, so that a fault is known in seconds.

A free worker claims a new job at once and validates its files itself, so this service waits a
moment first. A claim takes precedence: nothing is written while a worker has the job. A job whose
validation is lost with this process is validated by the worker that claims it.
"""

import asyncio
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import assert_never
from weakref import WeakValueDictionary

import structlog

from app.database import Database, UnitOfWork
from app.files.row_files import Inspections
from app.jobs import reinforcement, supervised
from app.jobs.call_checks import inspection_of_job
from app.jobs.jobs import FILES_VALIDATED, Job, JobError, validating_message
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.preflight import DatasetReport
from app.kit.callers import Tenant
from app.kit.errors import AgentRftError, PreflightIssue
from app.kit.job_queue import JobQueue
from app.models.models import BaseModelSpec, base_of

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileValidationPorts:
    database: Database
    queue: JobQueue
    inspections: Inspections


class FileValidation:
    """Validates files in one process, one job of a project at a time."""

    def __init__(
        self,
        ports: FileValidationPorts,
        *,
        base_models: tuple[BaseModelSpec, ...],
        after_s: float,
    ) -> None:
        self._ports = ports
        self._base_models = base_models
        self._after_s = after_s
        self._tasks = set[asyncio.Task[None]]()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def start(self, tenant: Tenant, job_id: str) -> None:
        """Validates a new job in the background."""
        # In a context of its own: the transaction of the request has ended.
        task = asyncio.create_task(self._validate_later(tenant, job_id), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _validate_later(self, tenant: Tenant, job_id: str) -> None:
        await asyncio.sleep(self._after_s)
        lock = self._locks.setdefault(tenant.project_id, asyncio.Lock())
        try:
            async with lock:
                await self.validate(tenant, job_id)
        except AgentRftError as error:
            log.warning("files left to a worker", job_id=job_id, error=str(error))
        except Exception:
            log.exception("files left to a worker", job_id=job_id)

    async def validate(self, tenant: Tenant, job_id: str) -> None:
        """Reads the job's files, and changes the job's state unless a worker has claimed it
        meanwhile.
        """
        async with self._ports.database.tenant(tenant) as unit:
            job = await unit.jobs.lock_unvalidated(job_id)
            if job is None:
                return
            keys = [
                None if file_id is None else (await unit.files.get(file_id)).object_key
                for file_id in (job.training_file, job.validation_file)
            ]
        report = await self._inspect(tenant, job, keys)
        fault = next((found for found in report.issues if found.severity == "error"), None)
        async with self._ports.database.tenant(tenant) as unit:
            current = await unit.jobs.lock_unvalidated(job_id)
            if current is None:
                return
            await unit.events.append(job_id, message=validating_message(job))
            if fault is None:
                await unit.jobs.mark_validated(job_id, *self._resolved(current, report))
                await _append_validated(unit, job_id, report.warnings)
                return
            error = _job_error(fault)
            await unit.events.append(
                job_id,
                level="error",
                message=error.message or "",
                data={"error_code": error.code, "error_param": error.param},
            )
            await unit.jobs.mark_invalid(job_id, error)
            unit.after_end(self._ports.queue.enqueue_deliveries)

    async def _inspect(self, tenant: Tenant, job: Job, keys: list[str | None]) -> DatasetReport:
        from app.jobs.dataset_checks import inspect  # noqa: PLC0415 - tokenizers and templates

        async with self._ports.inspections.copies(keys) as (training, validation):
            base = base_of(self._base_models, job.model)
            request = inspection_of_job(job.method, base, training=training, validation=validation)
            return await self._ports.inspections.run(tenant, inspect, request)

    def _resolved(self, job: Job, report: DatasetReport) -> tuple[int, StoredMethod]:
        """Returns the number of steps, and the method with every `auto` replaced."""
        base = base_of(self._base_models, job.model)
        rows = 0 if report.training is None else report.training.rows
        if base is None:
            raise LookupError(f"{job.model} has no base model any more")
        stored = job.method
        match stored:
            case StoredReinforcementMethod():
                values = reinforcement.resolve_hyperparameters(
                    stored.parse(), train_rows=rows, base_model=base
                )
                options = reinforcement.resolved_options(stored.options, values, base)
                return values.total_steps, stored.with_options(options)
            case StoredSupervisedMethod() | StoredDpoMethod():
                plan = supervised.resolve_supervised_hyperparameters(
                    stored.parse(), train_rows=rows, base_model=base
                )
                options = supervised.resolved_options(stored.options, stored.kind, rows)
                return plan.total_steps, stored.with_options(options)
            case _:
                assert_never(stored)


async def _append_validated(unit: UnitOfWork, job_id: str, warnings: Sequence[str]) -> None:
    await unit.events.append(job_id, message=FILES_VALIDATED)
    for warning in warnings:
        await unit.events.append(job_id, level="warn", message=warning)


def _job_error(fault: PreflightIssue) -> JobError:
    """Returns the same error as a run that finds the fault."""
    message = fault.message
    if fault.code in ("invalid_training_file", "invalid_validation_file"):
        message = f"Invalid file format. {message}"
    return JobError(code=fault.code, message=message, param=fault.param)
