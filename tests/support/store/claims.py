"""Claims jobs as a worker does and opens units of work under a claim."""

from datetime import timedelta

from sqlalchemy import func, select, update

from app.across_tenants import ClaimUnitOfWork
from app.database import RunUnitOfWork
from app.jobs.claims import job_claims
from app.jobs.jobs import Job
from app.kit.leases import Lease, QueuedRows, is_unleased
from tests.support.store.rows import Rows

LEASE_S = 30.0
_PLENTY = 1000


async def claim_row(
    claims: ClaimUnitOfWork[QueuedRows],
    row_id: str,
    *,
    owner: str = "me",
    lease_s: float = LEASE_S,
    max_attempts: int = 5,
) -> Lease | None:
    """Claims this row as a worker that finds no other: the others are not due for the moment of the
    claim. Returns `None` when it cannot be claimed.
    """
    async with claims as unit:
        session, table = unit.leases._session, unit.leases.table
        others = list(
            await session.scalars(
                select(table.id)
                .where(table.id != row_id, is_unleased(table), table.not_before.is_(None))
                .with_for_update(skip_locked=True)
            )
        )
        is_other = table.id.in_(others)
        later = func.now() + timedelta(days=1)
        await session.execute(update(table).where(is_other).values(not_before=later))
        lease = await unit.leases.claim_next(
            owner, lease_s, max_attempts=max_attempts, most_held=_PLENTY
        )
        await session.execute(update(table).where(is_other).values(not_before=None))
    assert lease is None or lease.id == row_id
    return lease


async def claim(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> Lease | None:
    return await claim_row(job_claims(rows.worker), job.id, lease_s=lease_s, max_attempts=3)


async def claimed_rows(rows: Rows, job: Job, *, lease_s: float = LEASE_S) -> Lease:
    claimed = await claim(rows, job, lease_s=lease_s)
    assert claimed is not None
    return claimed


def run_unit(rows: Rows, claimed: Lease) -> RunUnitOfWork:
    return rows.worker.run(claimed.project_id, claimed.id, claimed.fence)
