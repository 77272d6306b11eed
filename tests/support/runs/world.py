"""A claimed job on a fresh database, without engine or torch."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.accounts.usage import Amounts, UsageQuery, buckets_of
from app.database import Database
from app.jobs.claims import job_claims
from app.jobs.jobs import Job, JobStatus
from app.jobs.methods import stored_method
from app.jobs.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.kit.callers import Tenant
from app.kit.egress import EgressReply
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.kit.objects import build_objects
from app.models.engine import Completion
from app.models.models import BaseModelSpec
from app.settings import Settings
from tests.support import stack
from tests.support.engines.in_memory import InMemoryInference
from tests.support.patience import until
from tests.support.store.claims import claim_row
from tests.support.store.new_jobs import CREATED, insert_job
from tests.support.store.tenants import insert_tenant
from tests.support.twins import InMemoryEgress
from workers.methods.reinforcement.rows import Plan
from workers.runs.context import RunContext

BASE = BaseModelSpec(name="tiny-2026", path="nowhere", context_length=64, max_turn_tokens=16)


METHOD: dict[str, Any] = {
    "type": "reinforcement",
    "reinforcement": {
        "grader": {"type": "endpoint", "name": "records", "url": "http://grader.test/"},
        "tools": [{"name": "lookup", "server_url": "http://tool.test/"}],
    },
}


@dataclass(frozen=True, slots=True)
class World:
    app: Database
    worker: Database
    tenant: Tenant
    settings: Settings
    inference: InMemoryInference

    async def job(
        self,
        tenant: Tenant | None = None,
        *,
        method: dict[str, Any] | None = None,
        integrations: Sequence[dict[str, Any]] = (),
    ) -> Job:
        tenant = tenant or self.tenant
        job = Job(
            id=new_id("ftjob-"),
            organization_id=tenant.organization_id,
            project_id=tenant.project_id,
            model=BASE.name,
            status=JobStatus.VALIDATING_FILES,
            training_file="file-a",
            validation_file="file-b",
            seed=7,
            method=stored_method(method or METHOD),
            integrations=list(integrations),
            created_at=0,
            key_id="key_x",
        )
        await insert_job(self.app, tenant, job)
        return job

    async def claim(self, job: Job, *, lease_s: float = 30.0) -> Lease | None:
        return await claim_row(job_claims(self.worker), job.id, owner="here", lease_s=lease_s)

    async def context(self, job: Job, *, lease_s: float = -1.0) -> RunContext:
        """Opens a new claim. Its lease has run out, so that the next claim can be made at once."""
        claimed = await self.claim_when_free(job, lease_s)
        return RunContext(
            settings=self.settings,
            database=self.worker,
            objects=build_objects(self.settings),
            egress=InMemoryEgress(lambda _: EgressReply(200, {}, b"{}", 0.0)),
            inference=self.inference,
            job=await self.read(job),
            fence=claimed.fence,
            scratch=self.settings.work_dir / f"runs/{job.id}-f{claimed.fence}",
            organization_slug="one",
            base_model=BASE,
            method=ReinforcementMethod.model_validate(METHOD["reinforcement"]),
        )

    async def claim_when_free(self, job: Job, lease_s: float) -> Lease:
        """Claims a job, as a worker does, again while the end of a killed run still locks it."""
        claims = list[Lease]()

        async def is_claimed() -> bool:
            lease = await self.claim(job, lease_s=lease_s)
            claims.extend([] if lease is None else [lease])
            return lease is not None

        await until(is_claimed, what="the claim of the job")
        return claims[0]

    async def read(self, job: Job) -> Job:
        async with self.app.tenant(self.tenant) as unit:
            return await unit.jobs.get(job.id)

    async def recorded(self, job: Job) -> Amounts:
        """Returns the sum of what is recorded of a job for the organization's usage."""
        now = int(time.time())
        query = UsageQuery(
            "fine_tuning", now - 86_400, now + 86_400, job_ids=(job.id,), in_money=True
        )
        async with self.app.tenant(self.tenant) as unit:
            buckets = buckets_of(query, first_s=query.start_s, limit=9)
            found = await unit.usage.fill(query, buckets)
        total = Amounts()
        for one in (one for bucket in found for one in bucket.sums):
            total = total.plus(one.amounts)
        return total

    async def messages(self, job: Job) -> list[str]:
        """Returns the messages that runs appended after the job's first one, oldest first."""
        async with self.app.tenant(self.tenant) as unit:
            events, _ = await unit.events.page(job.id, after=None, limit=100)
        created, *messages = [event.message for event in reversed(events)]
        assert created == CREATED
        return messages


def plan(train_rows: int = 32) -> Plan:
    method = ReinforcementMethod.model_validate(METHOD["reinforcement"])
    hyper = resolve_hyperparameters(method, train_rows=train_rows, base_model=BASE)
    return Plan(hyperparameters=hyper, train_rows=train_rows)


def _script(_model: str, prompt: list[int], _seed: int) -> Completion:
    return Completion((1,), (-0.5,), "stop", (None, *(-0.25 for _ in prompt[1:])))


@asynccontextmanager
async def opened_world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    """Opens the stores of both roles for one test."""
    app = Database(database.app_url, pool_size=1)
    worker = Database(database.worker_url, pool_size=3)
    tenant = await insert_tenant(app, "one")
    settings = database.settings.model_copy(
        update={
            "objects_dir": tmp_path / "objects",
            "work_dir": tmp_path / "work",
            "trackers_dir": tmp_path / "trackers",
        }
    )
    inference = InMemoryInference(_script, base_models=(BASE.name,))
    yield World(app, worker, tenant, settings, inference)
    await app.dispose()
    await worker.dispose()
