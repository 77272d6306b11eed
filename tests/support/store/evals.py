"""Inserts eval runs and their items as the API and a worker do."""

from app.evals.claims import eval_claims, leased_eval_run
from app.evals.evals import Eval, EvalRun, EvalRunStatus, OutputItem, Tally
from app.kit.callers import Tenant
from app.kit.ids import new_id
from app.kit.leases import Lease
from tests.support.store.claims import claim_row
from tests.support.store.rows import Rows


async def a_run(rows: Rows, tenant: Tenant | None = None) -> EvalRun:
    of = Eval(id=new_id("eval_"), name="e", data_source_config={}, testing_criteria=[{"type": "x"}])
    run = EvalRun(
        id=new_id("evalrun_"),
        eval_id=of.id,
        name="r",
        status=EvalRunStatus.QUEUED,
        model=None,
        data_source={"type": "jsonl"},
    )
    async with rows.app.tenant(tenant or rows.first) as unit:
        await unit.evals.insert(of)
        await unit.eval_runs.insert(run)
    return run


async def claim(rows: Rows, run: EvalRun, *, lease_s: float = 30) -> Lease:
    claimed = await claim_row(eval_claims(rows.worker), run.id, lease_s=lease_s)
    assert claimed is not None
    return claimed


def item(run: EvalRun, index: int = 0) -> OutputItem:
    return OutputItem(
        id=new_id("outputitem_"),
        eval_id=run.eval_id,
        run_id=run.id,
        index=index,
        status="pass",
        datasource_item={"n": float("nan"), "t": "nul \x00"},
        results=[],
        sample={},
    )


async def write(rows: Rows, claimed: Lease, *items: OutputItem) -> None:
    async with leased_eval_run(rows.worker, claimed) as unit:
        for item in items:
            await unit.items.insert(item, position=item.index, usage=[])
        await unit.run.count(Tally([]))


async def fill(rows: Rows, job_id: str) -> None:
    """A row of the first tenant in each table of this room."""
    run = await a_run(rows)
    await write(rows, await claim(rows, run), item(run))
    async with rows.app.tenant(rows.first) as unit:
        (model, *_) = await unit.models.all()
        assert model.job_id == job_id
        await unit.permissions.grant(
            model.name, [rows.first.project_id], organization_id=rows.first.organization_id
        )
