"""Rows that two transactions insert, or insert and delete, at the same instant."""

import asyncio
from dataclasses import replace

import pytest

from app.kit.errors import NotFound, WrongState
from app.kit.ids import new_id
from app.models.adapters import ModelExport
from tests.support import stack
from tests.support.patience import until
from tests.support.store.evals import a_run
from tests.support.store.exports import an_export
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows


async def insert_export(rows: Rows, export: ModelExport) -> None:
    async with rows.app.tenant(rows.first) as unit:
        await unit.exports.insert(export)


async def test_the_second_open_export_of_a_model_is_refused_with_the_first_one(
    rows: Rows, database: stack.Database
) -> None:
    first = an_export()
    async with rows.app.tenant(rows.first) as unit:
        await unit.exports.insert(first)
        second = asyncio.create_task(
            insert_export(rows, replace(first, id=new_id("export_"))), name="second"
        )
        await until(lambda: waits_for_a_lock(database), what="the wait for the other")
    with pytest.raises(WrongState, match=f"Export {first.id} of '{first.model}' has not ended"):
        await second
    async with rows.app.tenant(rows.first) as unit:
        await unit.exports.mark_deleted(first.model, first.id)
        await unit.exports.insert(replace(first, id=new_id("export_")))


async def test_a_run_of_an_eval_that_is_deleted_meanwhile_is_not_found(
    rows: Rows, database: stack.Database
) -> None:
    run = await a_run(rows)
    late = replace(run, id=new_id("evalrun_"))

    async def insert() -> None:
        async with rows.app.tenant(rows.first) as unit:
            await unit.evals.get(run.eval_id)
            await unit.eval_runs.insert(late)

    async with rows.app.tenant(rows.first) as unit:
        await unit.evals.delete(run.eval_id)
        inserting = asyncio.create_task(insert(), name="insert")
        await until(lambda: waits_for_a_lock(database), what="the wait for the other")
    with pytest.raises(NotFound, match=f"Could not find eval: {run.eval_id}"):
        await inserting


def waits_for_a_lock(database: stack.Database) -> bool:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock'"
    )
    with connect(database) as connection:
        [waiting] = connection.execute(query).fetchall()
    return bool(waiting[0])
