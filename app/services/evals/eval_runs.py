"""Use cases of eval runs and their output items: start, listing, cancellation, deletion.

A run of a user's eval is inserted as a row, then a worker is notified. The runs of a job's eval are
its validations: they are read, never started.
"""

import asyncio
import json
from typing import Any, assert_never

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound, WrongState
from app.domain.evals.baselines import run_baseline
from app.domain.evals.data_source_faults import ROOT, data_source_faults
from app.domain.evals.data_sources import JsonlSource, SampledSource, planned_items
from app.domain.evals.evals import Eval, EvalRun, EvalRunStatus, ItemStatus, OutputItem
from app.domain.evals.sampling import TEXT, requested_format, unavailable_format
from app.domain.ids import new_id
from app.domain.rollouts.baselines import Baseline
from app.domain.students.students import student_named
from app.gateways.job_queue import JobQueue
from app.services.evals.validation_runs import ValidationRunService
from app.services.files.item_files import check_item_file
from app.services.models.models import ModelService
from app.store.database import Database


class EvalRunService:
    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        models: ModelService,
        validations: ValidationRunService,
        *,
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._queue = queue
        self._models = models
        self._validations = validations
        self._tenant = tenant

    async def create(
        self,
        eval_id: str,
        source: JsonlSource | SampledSource,
        *,
        name: str | None,
        metadata: dict[str, str] | None,
    ) -> EvalRun:
        """Inserts a run and notifies a worker. Raises `InvalidRequest` with the parameter at
        fault.
        """
        of = await self._eval(eval_id)
        if of.job_id is not None:
            raise WrongState(f"The runs of {eval_id} are the validations of job {of.job_id}.")
        faults = data_source_faults(source, of.testing_criteria)
        fault = await asyncio.to_thread(next, faults, None)
        if fault is not None:
            raise fault
        rows = source.source
        model = await self._model_of(source)
        data_source = source.model_dump(mode="json", exclude_unset=True)
        if model is not None:
            data_source["model"] = model
        run = EvalRun(
            id=new_id("evalrun_"),
            eval_id=eval_id,
            name=name or of.name,
            status=EvalRunStatus.QUEUED,
            model=model,
            data_source=data_source,
            metadata=metadata,
        )
        size = len(await asyncio.to_thread(json.dumps, run.data_source))
        async with self._database.tenant(self._tenant) as unit:
            if rows.file_id is not None:
                await check_item_file(unit, rows.file_id, "data_source.source.id")
            await unit.quotas.check_eval_run(planned_items(source))
            await unit.quotas.check_bytes(size)
            await unit.eval_runs.insert(run, planned_items=planned_items(source))
            unit.after_commit(lambda: self._queue.enqueue_eval(run.id))
        return await self.get(eval_id, run.id)

    async def get(self, eval_id: str, run_id: str) -> EvalRun:
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.get(of, run_id)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.eval_runs.get(eval_id, run_id)

    async def page(
        self,
        eval_id: str,
        *,
        status: EvalRunStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[EvalRun], bool]:
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.page(
                of, status=status, after=after, limit=limit, descending=descending
            )
        async with self._database.tenant(self._tenant) as unit:
            return await unit.eval_runs.page(
                eval_id, status=status, after=after, limit=limit, descending=descending
            )

    async def cancel(self, eval_id: str, run_id: str) -> EvalRun:
        """Ends a run at once; its items so far stay. Raises `WrongState` for an ended one."""
        await self._stored(eval_id, run_id)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.cancel(eval_id, run_id)
            unit.after_end(self._queue.enqueue_deliveries)
            return run

    async def delete(self, eval_id: str, run_id: str) -> None:
        """Deletes a run and its items; a worker that processes it stops."""
        await self._stored(eval_id, run_id)
        async with self._database.tenant(self._tenant) as unit:
            await unit.eval_runs.delete(eval_id, run_id)

    async def items(
        self,
        eval_id: str,
        run_id: str,
        *,
        status: ItemStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
        index: int | None = None,
    ) -> tuple[list[OutputItem], bool]:
        """Returns a page of the output items; `index` selects the samples of one item."""
        of = await self._eval(eval_id)
        wanted: dict[str, Any] = {
            "status": status,
            "after": after,
            "limit": limit,
            "descending": descending,
            "index": index,
        }
        if of.job_id is not None:
            return await self._validations.items(of, run_id, **wanted)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.get(eval_id, run_id)
            return await unit.eval_items.page(run, **wanted)

    async def baseline(self, eval_id: str, run_id: str) -> Baseline:
        """Returns the spread of the scores over the samples of each item."""
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.baseline(of, run_id)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.get(eval_id, run_id)
            scores = await unit.eval_items.scores(run)
        return await asyncio.to_thread(run_baseline, scores)

    async def item(self, eval_id: str, run_id: str, item_id: str) -> OutputItem:
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.item(of, run_id, item_id)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.get(eval_id, run_id)
            return await unit.eval_items.get(run, item_id)

    async def _eval(self, eval_id: str) -> Eval:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.get(eval_id)

    async def _stored(self, eval_id: str, run_id: str) -> None:
        """Returns a user's run. Raises for an unknown run, and for a validation of a job."""
        of = await self._eval(eval_id)
        await self.get(eval_id, run_id)
        if of.job_id is not None:
            raise WrongState(f"Run {run_id} is a validation of job {of.job_id}.")

    async def _model_of(self, source: JsonlSource | SampledSource) -> str | None:
        """Returns the model to sample: as it was named, or the one that answers for a student now.
        A run samples one model to its end. Raises `InvalidRequest` for an unknown model, and for a
        format that its engine cannot give.
        """
        match source:
            case JsonlSource():
                return None
            case SampledSource(model=name):
                pass
            case _:
                assert_never(source)
        try:
            model = await self._models.answering(name)
        except (NotFound, InvalidRequest) as error:
            raise InvalidRequest(
                error.message, param="data_source.model", code=error.code
            ) from error
        if requested_format(source) != TEXT:
            formats = await self._models.response_formats(model)
            if formats is not None and requested_format(source) not in formats:
                raise unavailable_format(source, formats, root=ROOT)
        return name if student_named(name) is None else model.name
