"""Stores on a fresh database with two tenants and a job of the first."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from app.domain.accounts.keys import Organization, Project
from app.domain.accounts.tenants import Tenant
from app.domain.ids import OrganizationId, ProjectId, new_id
from app.domain.jobs.jobs import Job, JobStatus
from app.store.database import Database
from tests.support import stack


@dataclass(frozen=True, slots=True)
class Rows:
    app: Database
    worker: Database
    first: Tenant
    second: Tenant

    async def job(self, tenant: Tenant | None = None) -> Job:
        tenant = tenant or self.first
        job = a_job(tenant)
        async with self.app.tenant(tenant) as unit:
            await unit.jobs.insert(job, secrets=None)
        return job


def a_job(tenant: Tenant) -> Job:
    return Job(
        id=new_id("ftjob-"),
        organization_id=tenant.organization_id,
        project_id=tenant.project_id,
        model="tiny",
        status=JobStatus.VALIDATING_FILES,
        training_file="file-a",
        validation_file="file-b",
        seed=2**31 - 1,
        method={"type": "reinforcement", "reinforcement": {}},
        created_at=0,
        key_id="key_x",
    )


async def _tenant(database: Database, slug: str) -> Tenant:
    organization_id, project_id = OrganizationId(new_id("org-")), ProjectId(new_id("proj_"))
    async with database.organization(organization_id) as unit:
        await unit.projects.insert_organization(
            Organization(id=organization_id, slug=slug, title=slug, created_at=0)
        )
        await unit.projects.insert_project(
            Project(id=project_id, organization_id=organization_id, name="p", created_at=0)
        )
    return Tenant(organization_id, project_id, slug, "key_x")


@pytest.fixture
async def rows(database: stack.Database) -> AsyncIterator[Rows]:
    # One connection each, so that every test also shows that a pooled one carries nothing over.
    app = Database(database.app_url, pool_size=1)
    worker = Database(database.worker_url, pool_size=3)
    yield Rows(app, worker, await _tenant(app, "one"), await _tenant(app, "two"))
    await app.dispose()
    await worker.dispose()
