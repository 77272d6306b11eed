"""Compares the start of a job with its published step, or with any validated one."""

import asyncio
from typing import Any, Final

from app.database import Database
from app.jobs.findings import judged_apart, read_verdict, score_range
from app.jobs.jobs import Job
from app.kit.callers import Tenant
from app.kit.errors import NotFound, refused_value
from app.kit.ids import REPORT, Split
from app.models.models import BaseModelSpec, base_of
from app.rollouts.before_after import PlayedSides, before_after, compared_rewards
from app.rollouts.service import RolloutService

_VALID: Final[Split] = "valid"
_SHOWN: Final = 10


class ReportService:
    def __init__(
        self,
        database: Database,
        rollouts: RolloutService,
        tenant: Tenant,
        *,
        base_models: tuple[BaseModelSpec, ...],
    ) -> None:
        self._database = database
        self._rollouts = rollouts
        self._tenant = tenant
        self._base_models = base_models

    async def report(
        self, job_id: str, *, step: int | None, limit_s: float | None
    ) -> dict[str, Any]:
        """Raises `NotFound` for a job without a report or, with a `step`, without rollouts of
        validations; `InvalidRequest` for a step that was not validated.
        """
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            stored = await unit.reports.get(job_id)
        if step is None or (stored is not None and stored["step"] == step):
            stored = await self._rollouts.report(job_id)
            found = await self._sides(job_id, stored["step"])
            return {**stored, "before_after": await _read(job, found, limit_s)}
        validated = await self._validated(job, step)
        sides = await self._played(job_id, _VALID, step)
        if not sides.start:
            raise NotFound(
                f"No held-out row was graded both before training and at step {step}: its rollouts "
                "were lost to failures.",
                param="step",
                code="validation_lost",
            )
        return {
            **await asyncio.to_thread(self._of_validations, job, sides, step, validated),
            "before_after": await _read(job, (_VALID, sides), limit_s),
        }

    async def _validated(self, job: Job, step: int) -> list[int]:
        async with self._database.tenant(self._tenant) as unit:
            steps = await unit.rollouts.steps(job.id, _VALID)
        after = [each for each in steps if each]
        if 0 not in steps or not after:
            raise NotFound(
                f"Job {job.id} has no rollouts of a validation before training and of a later one: "
                "it has not sampled them yet, samples none, or they are not kept any more.",
                param="step",
                code="no_rollouts",
            )
        if step not in after:
            listed = ", ".join(map(str, after[-_SHOWN:]))
            last = f"the last {_SHOWN} of {len(after)}" if len(after) > _SHOWN else "those"
            raise refused_value(
                "step", f"step {step} was not validated; {last} that were: {listed}"
            )
        return after

    async def _sides(self, job_id: str, step: int) -> tuple[Split, PlayedSides]:
        sides = await self._played(job_id, REPORT, step)
        return (
            (REPORT, sides) if sides.start else (_VALID, await self._played(job_id, _VALID, step))
        )

    async def _played(self, job_id: str, split: Split, step: int) -> PlayedSides:
        async with self._database.tenant(self._tenant) as unit:
            return PlayedSides.of(await unit.rollouts.played(job_id, split, steps=[0, step]))

    def _of_validations(
        self, job: Job, sides: PlayedSides, step: int, validated: list[int]
    ) -> dict[str, Any]:
        base = base_of(self._base_models, job.model)
        looks = len(validated)
        report = {
            "object": "fine_tuning.job.report",
            "job_id": job.id,
            "method": job.method.kind,
            "base_model": job.model if base is None else base.name,
            "start_model": job.model,
            "step": step,
            "chosen_among": looks,
            "judged_apart": judged_apart(job.method),
            **compared_rewards(sides, looks=looks, known=score_range(job.method)),
        }
        return {**report, "verdict": read_verdict(report)[0]}


async def _read(
    job: Job, found: tuple[Split, PlayedSides], limit_s: float | None
) -> dict[str, Any] | None:
    split, sides = found
    if not sides.start:
        return None
    return await asyncio.to_thread(
        before_after,
        sides,
        split=split,
        limit_s=limit_s,
        judged_apart=bool(judged_apart(job.method)),
    )
