"""Two tenants' jobs, each in a worker process of its own, at one engine: A's adapter is the same
bits whether B is there or not.
"""

import asyncio
import dataclasses
from typing import Any

from app.domain.accounts.keys import Organization, Project
from app.domain.accounts.tenants import Tenant
from app.domain.ids import OrganizationId, ProjectId, new_id
from app.domain.jobs.jobs import Job, JobStatus
from tests.support.child_processes import child
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


async def _in_a_process(runs: RealRuns, job: Job) -> Job:
    """One claim, as the supervisor starts it."""
    claimed = await runs.world.claim(job, lease_s=3600)
    assert claimed is not None
    settings = runs.world.settings.model_copy(
        update={"engine_url": runs.engine.url, "base_models": (runs.engine.spec,)}
    )
    arguments = ("-m", "workers.job_child", job.id, job.project_id, str(claimed.fence))
    with child(*arguments, settings=settings) as started:
        assert await started.exit_code() == 0
    return await runs.world.read(job)


async def test_a_tenants_adapter_is_the_same_bits_beside_another_tenants_job(
    world: World, engine: TinyEngine
) -> None:
    settings: dict[str, Any] = {
        "grader": GRADER,
        "hyperparameters": {"compute_multiplier": 0.5},
    }
    mine, theirs = RealRuns(world, engine), RealRuns(await _other_tenant(world), engine)
    alone = await _in_a_process(mine, await mine.job(seed=5, **settings))
    job_a = await mine.job(seed=5, **settings)
    settings["hyperparameters"] |= {"learning_rate_multiplier": 30, "batch_size": 10, "n_epochs": 2}
    job_b = await theirs.job(seed=6, **settings)
    beside, other = await asyncio.gather(_in_a_process(mine, job_a), _in_a_process(theirs, job_b))
    for job in (alone, beside, other):
        assert (job.status, job.step) == (JobStatus.SUCCEEDED, 2), job.error
    assert other.started_at is not None
    assert beside.started_at is not None
    both = max(other.started_at, beside.started_at)
    assert both <= min(other.finished_at or 0, beside.finished_at or 0), "they ran side by side"
    adapters = mine.adapters(alone)
    assert set(adapters) == {1, 2}
    assert mine.adapters(beside) == adapters
    assert theirs.adapters(other)[2] != adapters[2]
    trained = await mine.curve(alone, "train/loss")
    assert trained
    assert await mine.curve(beside, "train/loss") == trained
    assert await mine.curve(alone, "groups/trained") != {1: 0.0, 2: 0.0}
