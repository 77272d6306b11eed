"""A job's validations as the runs and output items of its eval. Reads only."""

import json
import sys
from collections.abc import AsyncGenerator, Iterable
from typing import Any, Final

from app.database import Database, UnitOfWork
from app.evals.evals import (
    Eval,
    EvalRun,
    EvalRunStatus,
    ItemStatus,
    OutputItem,
    no_item,
    no_run,
    step_of,
    threshold,
)
from app.evals.job_runs import ValidationCounts, ValidationItems, rollout_id, run_of
from app.files.row_files import rows_at
from app.jobs.jobs import Job
from app.kit.callers import Tenant
from app.kit.errors import NotFound
from app.kit.faults import unknown_cursor
from app.kit.objects import Objects
from app.models.models import BaseModelSpec, base_of
from app.rollouts.baselines import Baseline
from app.rollouts.rollouts import RolloutRow

_ABOVE_ZERO: Final = sys.float_info.min
"""The least reward that passes without a threshold; smaller ones are no sums of any grader."""


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
        """Returns a validation as a run. Raises `NotFound` for a step without a validation."""
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
        return run_of(of, job, validation)

    async def page(
        self,
        of: Eval,
        *,
        status: EvalRunStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[EvalRun], bool]:
        """Returns a page, oldest first unless `descending`. Every validation has ended."""
        step = None if after is None else step_of(after, _job_id(of))
        if after is not None and step is None:
            raise unknown_cursor(after)
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(_job_id(of))
            rows, more = await unit.validation_runs.page(
                job.id,
                _threshold(of),
                status=status,
                after=step,
                limit=limit,
                descending=descending,
            )
        return [run_of(of, job, row) for row in rows], more

    async def items(
        self,
        of: Eval,
        run_id: str,
        *,
        status: ItemStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
        index: int | None = None,
    ) -> tuple[list[OutputItem], bool]:
        async with self._database.tenant(self._tenant) as unit:
            job, validation = await self._find(unit, of, run_id)
            rollouts, more = await unit.validation_runs.items(
                job.id,
                validation.step,
                _threshold(of),
                status=status,
                after=None if after is None else rollout_id(after),
                limit=limit,
                descending=descending,
                index=index,
            )
            key = await self._object_key(unit, job)
        return await self._items(ValidationItems(of, job, validation), rollouts, key), more

    async def baseline(self, of: Eval, run_id: str) -> Baseline:
        """Returns the spread of the rewards over the samples of each row."""
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
        """Returns the object key of the validation file; `None` once it was deleted."""
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
    """Returns rows of the job's checked file by their index; empty if the file was deleted."""
    try:
        rows = await rows_at(chunks, wanted)
    except FileNotFoundError:
        return {}
    return {index: json.loads(line.content) for index, line in rows.items()}
