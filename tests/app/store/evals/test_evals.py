"""Evals, runs, items and permissions as rows: visibility, and fenced writes."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy.exc import IntegrityError, ProgrammingError

from app.evals.claims import eval_claims
from app.evals.evals import eval_of_job
from app.kit.errors import LeaseLost, NotFound
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.models.models import TunedModel
from tests.support import stack
from tests.support.store.claims import claim_row, claimed_rows, run_unit
from tests.support.store.evals import a_run, claim, item, write
from tests.support.store.rows import Rows


async def a_model(rows: Rows) -> str:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as unit:
        await unit.models.insert(
            TunedModel("ft:m", "", job.id, "tiny", new_id("model-"), "k", 1, 0)
        )
    return "ft:m"


async def test_a_run_is_claimed_by_one_and_written_at_its_fence_only(rows: Rows) -> None:
    run = await a_run(rows)

    async def attempt(number: int) -> Lease | None:
        return await claim_row(eval_claims(rows.worker), run.id, owner=f"w{number}")

    claims = await asyncio.gather(*(attempt(number) for number in range(6)))
    assert len([claim for claim in claims if claim is not None]) == 1
    old = next(claim for claim in claims if claim is not None)
    await write(rows, old, item(run, 0))
    async with eval_claims(rows.worker) as unit:
        await unit.leases.release(old, orderly=False, back_off=False)
    new = await claim(rows, run)
    assert new.fence == old.fence + 1
    with pytest.raises(LeaseLost):
        await write(rows, old, item(run, 1))
    with pytest.raises(LeaseLost):
        async with eval_claims(rows.worker) as unit:
            await unit.leases.renew(old, 30)
    await write(rows, new, item(run, 0), item(run, 1))
    async with rows.app.tenant(rows.first) as reader:
        items, _ = await reader.eval_items.page(
            run, status=None, after=None, limit=9, descending=False
        )
    assert [item.index for item in items] == [0, 1], "a place is written once"
    assert items[0].datasource_item == {"n": None, "t": "nul \ufffd"}


async def test_the_apis_role_claims_nothing_and_writes_no_items(rows: Rows) -> None:
    run = await a_run(rows)
    async with eval_claims(rows.app) as unit:
        assert await unit.leases.due(10, 0) == []
    with pytest.raises(ProgrammingError, match="permission denied"):
        await claim_row(eval_claims(rows.app), run.id)
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with rows.app.tenant(rows.first) as tenant:
            await tenant.eval_items.insert(item(run), position=0, usage=[])


async def test_a_tenants_evals_are_hidden_from_others(rows: Rows) -> None:
    run = await a_run(rows)
    async with rows.app.tenant(rows.second) as unit:
        for call in (
            unit.evals.get(run.eval_id),
            unit.evals.delete(run.eval_id),
            unit.evals.change(run.eval_id, {"name": "x"}),
            unit.eval_runs.get(run.eval_id, run.id),
            unit.eval_runs.cancel(run.eval_id, run.id),
            unit.eval_runs.delete(run.eval_id, run.id),
        ):
            with pytest.raises(NotFound):
                await call
    with pytest.raises(NotFound) as refused:
        async with rows.app.tenant(rows.second) as unit:
            await unit.eval_runs.insert(replace(run, id=new_id("evalrun_")))
    assert "fk_eval_runs_project_id_eval_id" in str(refused.value.__cause__)
    job = await rows.job(rows.second)
    with pytest.raises(IntegrityError, match="fk_evals_project_id_job_id"):
        async with rows.app.tenant(rows.first) as unit:
            await unit.evals.insert(eval_of_job(job.id, {}))


async def test_whom_a_model_is_shared_with_can_take_back_nothing(
    rows: Rows, database: stack.Database
) -> None:
    """Inserts without a store: the database itself refuses."""
    name = await a_model(rows)
    sibling = "proj_sibling"
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as strong:
        strong.execute(
            "INSERT INTO projects (id, organization_id, name) VALUES (%s, %s, 's')",
            (sibling, rows.first.organization_id),
        )
    async with rows.app.tenant(rows.first) as unit:
        await unit.permissions.grant(name, [sibling], organization_id=rows.first.organization_id)
    for role in (database.app_url, database.worker_url):
        with psycopg.connect(role.replace("+psycopg", "")) as other:
            other.execute("SELECT set_config('app.project', %s, true)", (sibling,))
            seen = other.execute("SELECT name FROM tuned_models").fetchall()
            assert seen == [(name,)]
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as other:
        other.execute("SELECT set_config('app.project', %s, true)", (sibling,))
        assert other.execute("DELETE FROM checkpoint_permissions").rowcount == 0
        assert other.execute("UPDATE tuned_models SET deleted_at = now()").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            other.execute(
                "INSERT INTO checkpoint_permissions"
                " (id, organization_id, project_id, model_name, target_project_id)"
                " VALUES ('cp_x', %s, %s, %s, %s)",
                (rows.first.organization_id, rows.first.project_id, name, sibling),
            )
