"""Runs supervised and preference jobs in the test process, on a real engine and trainer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from app.files.files import FileRow
from app.jobs.jobs import Job
from app.jobs.methods import stored_method
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.kit.objects import build_objects
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.settings import ComputeSettings
from tests.support.patience import PATIENCE_S
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import RealRuns, Script, TinyEngine
from tests.support.runs.world import World
from tests.support.store.new_jobs import insert_job
from tests.support.twins import InMemoryEgress
from workers.job_child import job_run
from workers.processes.clients import Clients
from workers.runs.context import RunContext
from workers.runs.opening import open_run

CITIES = ("Rome", "Oslo", "Lima", "Cairo", "Quito")


def chat_row(number: int) -> dict[str, Any]:
    """Two answers, learnable: the second depends on the question."""
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"Hello {number}"},
            {"role": "assistant", "content": "Which part?"},
            {"role": "user", "content": f"part {CITIES[number % 5]}"},
            {"role": "assistant", "content": f"It is in {CITIES[number % 5]}."},
        ]
    }


def pair_row(number: int) -> dict[str, Any]:
    return {
        "input": {"messages": [{"role": "user", "content": f"part {number}?"}]},
        "preferred_output": [{"role": "assistant", "content": "The answer is 42."}],
        "non_preferred_output": [{"role": "assistant", "content": f"I do not know {number}."}],
    }


@dataclass(frozen=True, slots=True)
class SupervisedRuns:
    world: World
    engine: TinyEngine
    save_share: float = 1.0
    """Commits every step, so that a test can end a run after any of them."""
    compute: ComputeSettings = field(default_factory=lambda: ComputeSettings(measure=False))

    @property
    def read(self) -> RealRuns:
        """Returns the runs, to read what a job left."""
        return RealRuns(self.world, self.engine)

    async def file(self, rows: list[dict[str, Any]]) -> str:
        content = "\n".join(map(json.dumps, rows)).encode()
        file_id, key = new_id("file-"), new_id("objects/")
        path = self.world.settings.objects_dir / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        row = FileRow(
            file_id, "", "a", "fine-tune", len(content), "0", key, "processed", None, 0, None
        )
        async with self.world.app.tenant(self.world.tenant) as unit:
            await unit.files.insert(row)
        return file_id

    async def job(
        self,
        kind: str,
        train: list[dict[str, Any]],
        valid: list[dict[str, Any]] | None = None,
        *,
        model: str | None = None,
        **method: Any,
    ) -> Job:
        job = replace(
            await self.world.job(),
            id=new_id("ftjob-"),
            model=model or self.engine.spec.name,
            training_file=await self.file(train),
            validation_file=None if valid is None else await self.file(valid),
            method=stored_method(
                {"type": kind, kind: _whole(kind, {"hyperparameters": {}, **method})}
            ),
        )
        await insert_job(self.world.app, self.world.tenant, job)
        return job

    @asynccontextmanager
    async def context(
        self, job: Job, spec: BaseModelSpec | None = None, script: Script | None = None
    ) -> AsyncIterator[RunContext]:
        """Yields a new claim, opened as the worker opens it."""
        claimed = await self.world.claim_when_free(job, lease_s=-1.0)
        base = spec or self.engine.spec
        inference = HttpInference(self.engine.url)
        runs = self.world.settings.runs.model_copy(update={"save_share": self.save_share})
        settings = self.world.settings.model_copy(
            update={"base_models": (base,), "runs": runs, "compute": self.compute}
        )
        try:
            egress = InMemoryEgress(script or Script())
            objects = build_objects(settings)
            yield await open_run(
                Clients(settings, self.world.worker, objects, egress, egress, inference),
                Lease(job.id, job.project_id, claimed.fence),
                settings.work_dir / f"runs/{job.id}-f{claimed.fence}",
            )
        finally:
            await inference.aclose()

    async def run(
        self, job: Job, *, spec: BaseModelSpec | None = None, script: Script | None = None
    ) -> Job:
        """Runs one claim, to whatever it ends with."""
        async with self.context(job, spec, script) as context:
            await asyncio.wait_for(job_run(context).run(), PATIENCE_S)
        return await self.world.read(job)

    async def killed_at(self, job: Job, step: int) -> None:
        """Runs a claim that crashes once `step` is committed, before the next one."""
        async with self.context(job) as context:
            with pytest.raises(RunKilled):
                await interrupted_run(context, after_step=step).run()

    async def published(self, job: Job) -> Path:
        """Directory of the adapter that a job published."""
        async with self.world.app.tenant(self.world.tenant) as unit:
            model = await unit.models.get(str(job.fine_tuned_model))
        assert model is not None
        return self.world.settings.objects_dir / model.object_key


def _whole(kind: str, method: dict[str, Any]) -> dict[str, Any]:
    """Returns the method as the create call stores it."""
    if kind != "reinforcement":
        return method
    return ReinforcementMethod.model_validate(method).model_dump(mode="json")
