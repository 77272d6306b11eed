"""Claims jobs as a worker does and opens units of work under a claim."""

from app.domain.jobs.jobs import Job
from app.store.jobs.claims import job_claims
from app.store.leases import Lease
from app.store.unit_of_work import RunUnitOfWork
from tests.support.store.rows import Rows

LEASE_S = 30.0


async def claim(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> Lease | None:
    async with job_claims(rows.worker) as unit:
        return await unit.leases.claim(job.id, "me", lease_s, max_attempts=3)


async def held(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> Lease:
    claimed = await claim(rows, job, lease_s=lease_s)
    assert claimed is not None
    return claimed


def run_unit(rows: Rows, claimed: Lease) -> RunUnitOfWork:
    return rows.worker.run(claimed.project_id, claimed.id, claimed.fence)
