"""Checks the evals that a create call attaches to its job."""

from typing import Final

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound, refused_value
from app.domain.evals.attached_runs import file_of
from app.domain.evals.data_source_faults import ROOT
from app.domain.evals.data_sources import MAX_ITEMS
from app.domain.jobs.attached_evals import EVALS, AttachedEval
from app.services.files.item_files import check_item_file
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

_RUNS: Final = 2
"""Runs of each attached eval: on the start model and on the tuned one."""


async def check_attached_evals(
    database: Database, tenant: Tenant, attached: list[AttachedEval]
) -> None:
    """Raises `InvalidRequest` for an eval or a file that the project lacks."""
    if not attached:
        return
    async with database.tenant(tenant) as unit:
        for position, each in enumerate(attached):
            await _check(unit, f"{EVALS}[{position}]", each)


async def check_quota(database: Database, tenant: Tenant, attached: list[AttachedEval]) -> None:
    """Raises `QuotaExceeded` if the runs are too many already now. The job's end starts them
    without a second check.
    """
    if not attached:
        return
    async with database.tenant(tenant) as unit:
        await unit.quotas.check_eval_run(MAX_ITEMS * _RUNS * len(attached))


async def _check(unit: UnitOfWork, root: str, attached: AttachedEval) -> None:
    try:
        of = await unit.evals.get(attached.eval_id)
    except NotFound as error:
        raise InvalidRequest(
            error.message, param=f"{root}.eval_id", code="eval_not_found"
        ) from error
    if of.job_id is not None:
        raise refused_value(
            f"{root}.eval_id",
            f"the runs of {of.id} are the validations of job {of.job_id}; attach an eval of your "
            "own",
        )
    await check_item_file(unit, file_of(attached), f"{root}.{ROOT}.source.id")
