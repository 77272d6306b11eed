"""Two tenants' jobs, each in a worker process of its own, at one engine: A's adapter is the same
bits whether B is there or not.
"""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.accounts.accounts import Organization, Project
from app.jobs.jobs import Job, JobStatus
from app.kit.callers import Tenant
from app.kit.ids import OrganizationId, ProjectId, new_id
from tests.support.patience import until
from tests.support.processes.child_processes import StartedChild, child
from tests.support.runs.real_run import RealRuns, TinyEngine
from tests.support.runs.world import World

GRADER = {
    "type": "string_check",
    "name": "has_e",
    "input": "{{ sample.output_text }}",
    "reference": "e",
    "operation": "ilike",
}


async def _other_tenant(world: World) -> World:
    organization_id, project_id = OrganizationId(new_id("org-")), ProjectId(new_id("proj_"))
    async with world.app.organization(organization_id) as unit:
        await unit.projects.insert_organization(
            Organization(id=organization_id, slug="two", title="two", created_at=0)
        )
        await unit.projects.insert_project(
            Project(id=project_id, organization_id=organization_id, name="p", created_at=0)
        )
    tenant = Tenant(organization_id, project_id, "two", "key_y")
    return dataclasses.replace(world, tenant=tenant)


@asynccontextmanager
async def _in_a_process(runs: RealRuns, job: Job) -> AsyncIterator[StartedChild]:
    """One claim, as the supervisor starts it."""
    claimed = await runs.world.claim(job, lease_s=3600)
    assert claimed is not None
    settings = runs.world.settings.model_copy(
        update={"engine_url": runs.engine.url, "base_models": (runs.engine.spec,)}
    )
    arguments = ("-m", "workers.job_child", job.id, job.project_id, str(claimed.fence))
    with child(*arguments, settings=settings) as started:
        yield started


async def _to_its_end(runs: RealRuns, job: Job) -> Job:
    async with _in_a_process(runs, job) as started:
        assert await started.exit_code() == 0
    ended = await runs.world.read(job)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 2), ended.error
    return ended


async def _has_stepped(runs: RealRuns, job: Job) -> bool:
    return (await runs.world.read(job)).step >= 2


async def test_a_tenants_adapter_is_the_same_bits_beside_another_tenants_job(
    world: World, engine: TinyEngine
) -> None:
    settings: dict[str, Any] = {"grader": GRADER, "hyperparameters": {"compute_multiplier": 0.5}}
    mine, theirs = RealRuns(world, engine), RealRuns(await _other_tenant(world), engine)
    alone = await _to_its_end(mine, await mine.job(seed=5, **settings))
    job_a = await mine.job(seed=5, **settings)
    # The other job has so many steps that it is still at work when this one's two are done.
    settings["hyperparameters"] |= {"learning_rate_multiplier": 30, "n_epochs": 50}
    job_b = await theirs.job(seed=6, **settings)
    async with _in_a_process(theirs, job_b):
        await until(lambda: _has_stepped(theirs, job_b), what="two steps of the other tenant's job")
        beside = await _to_its_end(mine, job_a)
        other = await theirs.world.read(job_b)
    assert other.status is JobStatus.RUNNING, (other.status, other.step, other.error)
    adapters = mine.adapters(alone)
    assert set(adapters) == {1, 2}
    assert mine.adapters(beside) == adapters
    trained_beside = set(theirs.adapters(other).values())
    assert trained_beside
    assert trained_beside.isdisjoint(adapters.values())
    trained = await mine.curve(alone, "train/loss")
    assert trained
    assert await mine.curve(beside, "train/loss") == trained
    assert await mine.curve(alone, "groups/trained") != {1: 0.0, 2: 0.0}
