"""Claims of eval runs: who works on one, and what happens when a worker crashes."""

import asyncio

import psycopg
import pytest

from app.kit.errors import LeaseLost
from app.settings import to_environment
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.evals.criteria import RIGHT, WRONG, endpoint_grader
from tests.support.evals.world import World, exact, rows, sampled
from tests.support.processes.child_processes import CONTROL_FORKS, ended
from tests.support.twins import InMemoryJobQueue
from workers.evals.child import work
from workers.leased_kinds import EVAL_RUNS
from workers.processes.dispatcher import dispatch, sweep
from workers.processes.forking.forks import Children


async def test_a_killed_workers_run_is_taken_over_and_no_item_is_graded_twice(world: World) -> None:
    asked: list[int] = []
    held = asyncio.Event()

    async def slow(request: ReceivedRequest) -> Reply:
        number = request.json["item"]["n"]
        asked.append(number)
        if number >= 5:
            await held.wait()
        return Reply(json={"score": 1})

    world.grader.script = slow
    source = {"type": "jsonl", "source": rows(*({"n": n} for n in range(12)))}
    path = await world.make(endpoint_grader(world), source=source)
    first = await world.claim(path, lease_s=-1)
    working = asyncio.create_task(work(world.ports, first))
    await world.until_items(path, 5)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    before = await world.items(path)
    held.set()
    asked.clear()
    run = await world.finish(path)
    assert run["result_counts"] == {"total": 12, "errored": 0, "failed": 0, "passed": 12}
    # A call that the dead worker had sent may be read only now: some are here twice.
    assert set(asked) == set(range(5, 12)), "what is written is not asked again"
    after = await world.items(path)
    assert [item["datasource_item_id"] for item in after] == list(range(12))
    assert after[:5] == before
    calls = {request.headers["idempotency-key"] for request in world.grader.received}
    assert len(calls) == 12, "a call that is repeated carries the same id"
    with pytest.raises(LeaseLost):
        await work(world.ports, first)


async def test_the_sweeper_notifies_of_a_waiting_run_and_fails_one_that_keeps_dying(
    world: World,
) -> None:
    source = {"type": "jsonl", "source": rows({"n": 1})}
    path = await world.make(endpoint_grader(world), source=source)
    run_id, queue = path.rsplit("/", 1)[1], InMemoryJobQueue()
    database = world.ports.database
    assert await sweep(EVAL_RUNS, database, queue, max_attempts=3) == [run_id]
    assert queue.evals == [run_id]
    assert await sweep(EVAL_RUNS, database, queue, max_attempts=3) == [], (
        "a notification was sent a moment ago"
    )
    for _ in range(3):
        await world.claim(path, lease_s=-1)
    assert await sweep(EVAL_RUNS, database, queue, max_attempts=3) == []
    run = await world.get(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "worker_lost")


async def test_the_dispatcher_starts_a_process_that_sees_the_run_through(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in to_environment(world.ports.settings).items():
        monkeypatch.setenv(name, value)
    path = await world.make(exact(), source=sampled(rows(RIGHT, WRONG)))
    children = Children(2, CONTROL_FORKS)
    assert await dispatch(EVAL_RUNS, world.ports.settings, children=children)
    assert not await dispatch(EVAL_RUNS, world.ports.settings, children=children)
    await world.until_items(path, 2)
    run = await world.until_ended(path)
    assert run["status"] == "completed"
    assert run["result_counts"] == {"total": 2, "errored": 0, "failed": 1, "passed": 1}
    for child in children.running:  # it exits a moment after the run has ended
        assert await ended(child.process) == 0
    assert children.running == []


async def test_another_tenants_worker_setting_sees_no_run(world: World) -> None:
    path = await world.make(exact(), source=sampled(rows(RIGHT)))
    await world.finish(path)
    for url in (world.ports.settings.database_url, world.ports.settings.worker_database_url):
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("SELECT set_config('app.project', 'proj_other', true)")
            for table in ("evals", "eval_runs", "eval_output_items"):
                query = f"SELECT count(*) FROM {table}".encode()
                assert connection.execute(query).fetchone() == (0,)
