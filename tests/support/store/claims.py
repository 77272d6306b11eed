"""Claims jobs as a worker does and opens units of work under a claim."""

from app.domain.jobs.jobs import Job
from app.store.jobs.claims import ClaimedJob, system
from app.store.unit_of_work import RunUnitOfWork
from tests.support.store.rows import Rows

LEASE_S = 30.0


async def claim(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> ClaimedJob | None:
    async with system(rows.worker) as unit:
        return await unit.jobs.claim(job.id, "me", lease_s, max_attempts=3)


async def held(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> ClaimedJob:
    claimed = await claim(rows, job, lease_s=lease_s)
    assert claimed is not None
    return claimed


def run_unit(rows: Rows, claimed: ClaimedJob) -> RunUnitOfWork:
    return rows.worker.run(claimed.project_id, claimed.job_id, claimed.fence)
