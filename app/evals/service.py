"""Evals and their runs; the runs of a job's eval are its validations."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from typing_extensions import Unpack

from app.database import Database, UnitOfWork
from app.evals.data_sources import (
    ROOT,
    TEXT,
    JsonlSource,
    SampledSource,
    asked_of_student,
    data_source_faults,
    path_fault,
    planned_items,
    requested_format,
    unavailable_format,
)
from app.evals.evals import (
    Eval,
    EvalOrder,
    EvalRun,
    EvalRunStatus,
    ItemPage,
    NewEval,
    OutputItem,
    RunPage,
    ValidationCounts,
    ValidationItems,
    custom_config,
    no_item,
    no_run,
    rollout_id,
    run_baseline,
    run_of,
    step_of,
    threshold,
)
from app.files.row_files import rows_at
from app.graders.definitions import GRADER_MODELS
from app.graders.template_faults import constant_scores
from app.jobs.jobs import Job
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NoEffect, NotFound, WrongState, refused_value
from app.kit.faults import refused_wholly, unknown_cursor
from app.kit.fields import parameter, walk_fields
from app.kit.ids import new_id
from app.kit.job_queue import JobQueue
from app.kit.json_schemas import schema_fault
from app.kit.objects import Objects
from app.kit.redaction import SecretValues, redact_in_place
from app.models.models import BaseModelSpec, base_of
from app.models.service import CallableModel, JudgeModels, ModelService
from app.rollouts.rollouts import Baseline, RolloutRow
from app.tools.definition_check import check_definitions
from app.tools.registry_service import MAX_DEFINITION_BYTES, RegistryPorts

_ABOVE_ZERO: Final = sys.float_info.min


class ValidationRunService:
    def __init__(
        self,
        database: Database,
        objects: Objects,
        *,
        base_models: tuple[BaseModelSpec, ...],
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._objects = objects
        self._base_models = base_models
        self._tenant = tenant

    async def get(self, of: Eval, run_id: str) -> EvalRun:
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
        return run_of(of, job, validation)

    async def page(self, of: Eval, **wanted: Unpack[RunPage]) -> tuple[list[EvalRun], bool]:
        after = wanted["after"]
        step = None if after is None else step_of(after, _job_id(of))
        if after is not None and step is None:
            raise unknown_cursor(after)
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(_job_id(of))
            rows, more = await unit.validation_runs.page(
                job.id,
                _threshold(of),
                status=wanted["status"],
                after=step,
                limit=wanted["limit"],
                descending=wanted["descending"],
            )
        return [run_of(of, job, row) for row in rows], more

    async def items(
        self, of: Eval, run_id: str, **wanted: Unpack[ItemPage]
    ) -> tuple[list[OutputItem], bool]:
        wanted["after"] = None if wanted["after"] is None else rollout_id(wanted["after"])
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
            rollouts, more = await unit.validation_runs.items(
                job.id, validation.step, _threshold(of), **wanted
            )
            key = await self._object_key(unit, job)
        return await self._items(ValidationItems(of, job, validation), rollouts, key), more

    async def baseline(self, of: Eval, run_id: str) -> Baseline:
        least = _threshold(of)
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
            means = await unit.rollouts.row_means(job.id, "valid", steps=[validation.step])
            counts = await unit.rollouts.pass_counts(
                job.id, "valid", at_least=_ABOVE_ZERO if least is None else least
            )
        return Baseline.of_means(means, [one for one in counts if one.step == validation.step])

    async def item(self, of: Eval, run_id: str, item_id: str) -> OutputItem:
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
            try:
                rollout = await unit.rollouts.get(job.id, rollout_id(item_id))
            except NotFound as error:
                raise no_item(item_id) from error
            if (rollout.split, rollout.step) != ("valid", validation.step):
                raise no_item(item_id)
            key = await self._object_key(unit, job)
        return (await self._items(ValidationItems(of, job, validation), [rollout], key))[0]

    async def _find(self, unit: UnitOfWork, of: Eval, run_id: str) -> tuple[Job, ValidationCounts]:
        step = step_of(run_id, _job_id(of))
        job = await unit.jobs.get(_job_id(of))
        validation = (
            None if step is None else await unit.validation_runs.get(job.id, _threshold(of), step)
        )
        if validation is None:
            raise no_run(run_id)
        return job, validation

    async def _object_key(self, unit: UnitOfWork, job: Job) -> str | None:
        if job.validation_file is None:
            return None
        try:
            row = await unit.files.get(job.validation_file)
        except NotFound:
            return None
        return row.object_key

    async def _items(
        self, seen: "ValidationItems", rollouts: list[RolloutRow], key: str | None
    ) -> list[OutputItem]:
        wanted = {rollout.prompt_index for rollout in rollouts}
        rows = {} if key is None else await _read_rows(self._objects.read(key), wanted)
        base = base_of(self._base_models, seen.job.model)
        limit = None if base is None else base.max_turn_tokens
        return [
            seen.item(rollout, rows.get(rollout.prompt_index), turn_limit=limit)
            for rollout in rollouts
        ]


def _threshold(of: Eval) -> float | None:
    return threshold(of.testing_criteria[0])


def _job_id(of: Eval) -> str:
    if of.job_id is None:
        raise ValueError(f"{of.id} does not belong to a job")
    return of.job_id


async def _read_rows(
    chunks: AsyncGenerator[bytes, None], wanted: Iterable[int]
) -> dict[int, dict[str, Any]]:
    try:
        rows = await rows_at(chunks, wanted)
    except FileNotFoundError:
        return {}
    return {index: json.loads(line.content) for index, line in rows.items()}


FILE_PURPOSES: Final = ("evals", "fine-tune")


async def check_item_file(unit: UnitOfWork, file_id: str, param: str) -> None:
    try:
        row = await unit.files.get(file_id)
    except NotFound as error:
        raise InvalidRequest(
            f"File {file_id} does not exist.", param=param, code="file_not_found"
        ) from error
    if row.purpose not in FILE_PURPOSES:
        raise InvalidRequest(
            f"File {file_id} has purpose '{row.purpose}', but must have one of "
            f"{list(FILE_PURPOSES)}.",
            param=param,
            code="invalid_value",
        )


class EvalService:
    def __init__(
        self, database: Database, ports: RegistryPorts, tenant: Tenant, *, models: JudgeModels
    ) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant
        self._models = models

    async def create(self, new: NewEval) -> Eval:
        await asyncio.to_thread(_check_unread, new)
        unread = await check_definitions(
            [
                (f"testing_criteria[{number}]", criterion)
                for number, criterion in enumerate(new.criteria)
            ],
            egress=self._ports.egress,
            models=self._models,
        )
        sent = [criterion.model_dump(mode="json") for criterion in new.criteria]
        if len(json.dumps([sent, new.item_schema])) > MAX_DEFINITION_BYTES:
            raise InvalidRequest(
                f"An eval is larger than {MAX_DEFINITION_BYTES} bytes.",
                param="testing_criteria",
                code="invalid_value",
            )
        eval_id = new_id("eval_")
        shown, secrets = await asyncio.to_thread(_split, sent)
        made = Eval(
            id=eval_id,
            name=new.name or f"Eval {eval_id}",
            data_source_config=custom_config(
                new.item_schema, include_sample=new.include_sample_schema
            ),
            testing_criteria=shown,
            metadata=new.metadata,
        )
        sealed = (
            self._ports.secret_box.seal(secrets, project_id=self._tenant.project_id, row_id=eval_id)
            if secrets
            else None
        )
        async with self._database.tenant(self._tenant) as unit:
            stored = [made.data_source_config, made.testing_criteria]
            await unit.quotas.check_bytes(len(json.dumps(stored)))
            await unit.evals.insert(made, secrets=sealed)
        unused = await asyncio.to_thread(_unused, new)
        return replace(await self.get(eval_id), unread=unread, unused=unused)

    async def get(self, eval_id: str) -> Eval:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.get(eval_id)

    async def page(
        self, *, after: str | None, limit: int, descending: bool, order_by: EvalOrder
    ) -> tuple[list[Eval], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.page(
                after=after, limit=limit, descending=descending, order_by=order_by
            )

    async def update(self, eval_id: str, changes: dict[str, Any]) -> Eval:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.change(eval_id, changes)

    async def delete(self, eval_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            found = await unit.evals.get(eval_id)
            if found.job_id is not None:
                raise WrongState(f"Eval {eval_id} belongs to job {found.job_id}.")
            await unit.evals.delete(eval_id)


def _check_unread(new: NewEval) -> None:
    found = schema_fault(new.item_schema)
    if found is not None:
        path, reason = found
        param = parameter("data_source_config.item_schema", path)
        raise refused_value(param, f"it is not a JSON schema ({reason})")
    for number, criterion in enumerate(new.criteria):
        for field in walk_fields(type(criterion), criterion):
            root = f"testing_criteria[{number}]"
            fault = refused_wholly(field, root, only_near=True) or path_fault(
                field, root, item_schema=new.item_schema
            )
            if fault is not None:
                raise fault


def _unused(new: NewEval) -> tuple[NoEffect, ...]:
    return tuple(
        warning
        for number, criterion in enumerate(new.criteria)
        for warning in constant_scores(
            criterion,
            f"testing_criteria[{number}]",
            "an item's score is the same for every model unless the items hold the answers",
        )
    )


def _split(criteria: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], SecretValues]:
    shown = deepcopy(criteria)
    secrets: SecretValues = {}
    for number in range(len(shown)):
        secrets |= redact_in_place(GRADER_MODELS, shown, (number,))
    return shown, secrets


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
        if model is not None and model.version is not None:
            data_source = asked_of_student(data_source, model.version)
        run = EvalRun(
            id=new_id("evalrun_"),
            eval_id=eval_id,
            name=name or of.name,
            status=EvalRunStatus.QUEUED,
            model=data_source.get("model"),
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

    async def page(self, eval_id: str, **wanted: Unpack[RunPage]) -> tuple[list[EvalRun], bool]:
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.page(of, **wanted)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.eval_runs.page(eval_id, **wanted)

    async def cancel(self, eval_id: str, run_id: str) -> EvalRun:
        await self._stored(eval_id, run_id)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.cancel(eval_id, run_id)
            unit.after_end(self._queue.enqueue_deliveries)
            return run

    async def delete(self, eval_id: str, run_id: str) -> None:
        await self._stored(eval_id, run_id)
        async with self._database.tenant(self._tenant) as unit:
            await unit.eval_runs.delete(eval_id, run_id)

    async def items(
        self, eval_id: str, run_id: str, **wanted: Unpack[ItemPage]
    ) -> tuple[list[OutputItem], bool]:
        of = await self._eval(eval_id)
        if of.job_id is not None:
            return await self._validations.items(of, run_id, **wanted)
        async with self._database.tenant(self._tenant) as unit:
            run = await unit.eval_runs.get(eval_id, run_id)
            return await unit.eval_items.page(run, **wanted)

    async def baseline(self, eval_id: str, run_id: str) -> Baseline:
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
        of = await self._eval(eval_id)
        await self.get(eval_id, run_id)
        if of.job_id is not None:
            raise WrongState(f"Run {run_id} is a validation of job {of.job_id}.")

    async def _model_of(self, source: JsonlSource | SampledSource) -> CallableModel | None:
        """Returns the model to sample, of a student the one that answers now: a run samples one
        model to its end. Raises `InvalidRequest` for an unknown model, and for a format that its
        engine cannot give.
        """
        if not isinstance(source, SampledSource):
            return None
        name = source.model
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
        return model
