"""The event log misses no event, however transactions interleave, and shows no tenant another's."""

import asyncio

import psycopg
import pytest

from app.database import UnitOfWork
from app.events.reader_store import ALL_PROJECTS, event_reader
from app.events.store import CommittedEvent
from app.jobs.jobs import Job
from app.kit.errors import LeaseLost
from tests.support import stack
from tests.support.store.new_jobs import CREATED
from tests.support.store.rows import Rows
from tests.support.store.webhook_events import cancel


async def append(unit: UnitOfWork, job: Job, message: str) -> None:
    await unit.events.append(job.id, message=message)


async def announce(rows: Rows, job: Job, *messages: str) -> None:
    tenant = rows.first if job.project_id == rows.first.project_id else rows.second
    for message in messages:
        async with rows.app.tenant(tenant) as unit:
            await append(unit, job, message)


class Reader:
    """Reads as a consumer does: sequences, reads, and stores the position."""

    def __init__(self, rows: Rows, scope: str = ALL_PROJECTS) -> None:
        self._rows = rows
        self._scope = scope
        self._position = 0

    async def events(
        self, *, limit: int = 100, types: list[str] | None = None
    ) -> list[CommittedEvent]:
        async with event_reader(self._rows.worker) as unit:
            await unit.log.sequence(100)
            page = await unit.log.read_after(
                self._position, scope=self._scope, types=types, limit=limit
            )
        self._position = page.position
        return [event for event in page.events if event.data.get("message") != CREATED]

    async def messages(self, *, limit: int = 100) -> list[str]:
        return [event.data["message"] for event in await self.events(limit=limit)]


async def test_the_transaction_that_began_first_and_commits_last_is_read_once(
    rows: Rows, database: stack.Database
) -> None:
    first, second, reader = await rows.job(), await rows.job(), Reader(rows)
    async with rows.app.tenant(rows.first) as slow:
        await append(slow, first, "began first")
        async with rows.app.tenant(rows.first) as fast:
            await append(fast, second, "began second")
            assert await reader.messages() == []
        assert await reader.messages() == ["began second"]
        assert await reader.messages() == []
    assert await reader.messages() == ["began first"]
    assert await reader.messages() == []
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        written = connection.execute(
            "SELECT data ->> 'message' FROM event_log ORDER BY position"
        ).fetchall()
    assert written == [(CREATED,), (CREATED,), ("began second",), ("began first",)]


async def test_many_interleaved_writers_and_two_sequencers_lose_and_repeat_nothing(
    rows: Rows,
) -> None:
    jobs = [await rows.job() for _ in range(4)]
    readers, seen = [Reader(rows), Reader(rows)], [list[str](), list[str]()]
    done = asyncio.Event()

    async def write(job: Job) -> None:
        for number in range(10):
            await announce(rows, job, f"{job.id} {number}")

    async def read(reader: Reader, into: list[str]) -> None:
        while not done.is_set():
            into += await reader.messages(limit=3)

    reading = [
        asyncio.create_task(read(reader, into)) for reader, into in zip(readers, seen, strict=True)
    ]
    await asyncio.gather(*(write(job) for job in jobs))
    done.set()
    await asyncio.gather(*reading)
    for reader, into in zip(readers, seen, strict=True):
        into.extend(await reader.messages())
        for job in jobs:
            of_job = [message for message in into if message.startswith(job.id)]
            assert of_job == [f"{job.id} {number}" for number in range(10)]
    assert seen[0] == seen[1]


async def test_a_page_of_some_types_passes_over_the_others(rows: Rows) -> None:
    job, reader = await rows.job(), Reader(rows)
    await announce(rows, job, "a", "b")
    await cancel(rows, job)
    types = ["fine_tuning.job.cancelled"]
    [event] = await reader.events(types=types)
    assert (event.type, event.subject, event.project_id) == (
        types[0],
        job.id,
        rows.first.project_id,
    )
    assert event.id.startswith("evt_")
    await announce(rows, job, "c")
    assert await reader.events(types=types) == []
    assert await reader.messages() == []


async def test_a_projects_reader_gets_its_events_only(rows: Rows) -> None:
    mine, theirs = await rows.job(), await rows.job(rows.second)
    await announce(rows, mine, "mine")
    await announce(rows, theirs, "theirs")
    assert await Reader(rows, rows.first.project_id).messages() == ["mine"]
    assert await Reader(rows, rows.second.project_id).messages() == ["theirs"]
    assert await Reader(rows).messages() == ["mine", "theirs"]


async def test_the_apis_role_reads_nothing_across_tenants(rows: Rows) -> None:
    await announce(rows, await rows.job(), "mine")
    async with event_reader(rows.worker) as unit:
        await unit.log.sequence(10)
    with pytest.raises(Exception, match="permission denied for table event_"):
        async with event_reader(rows.app) as unit:
            await unit.log.read_after(0, scope=ALL_PROJECTS, types=None, limit=10)


async def test_an_old_claim_of_a_cursor_advances_nothing(rows: Rows) -> None:
    async with event_reader(rows.worker) as unit:
        old = await unit.cursors.claim("c", ALL_PROJECTS, lease_s=-1)
    async with event_reader(rows.worker) as unit:
        new = await unit.cursors.claim("c", ALL_PROJECTS, lease_s=60)
    assert old is not None
    assert new is not None
    assert new.fence > old.fence
    async with event_reader(rows.worker) as unit:
        assert await unit.cursors.claim("c", ALL_PROJECTS, lease_s=60) is None
    with pytest.raises(LeaseLost):
        async with event_reader(rows.worker) as unit:
            await unit.cursors.advance(old, 5)
    async with event_reader(rows.worker) as unit:
        await unit.cursors.advance(new, 7)
    async with event_reader(rows.worker) as unit:
        after = await unit.cursors.claim("c", ALL_PROJECTS, lease_s=60)
    assert after is not None
    assert after.position == 7


async def test_a_claim_whose_lease_has_ended_advances_nothing(rows: Rows) -> None:
    """No newer claim was made: the fence alone would let it write."""
    async with event_reader(rows.worker) as unit:
        late = await unit.cursors.claim("c", ALL_PROJECTS, lease_s=-1)
    assert late is not None
    with pytest.raises(LeaseLost):
        async with event_reader(rows.worker) as unit:
            await unit.cursors.advance(late, 5)
    async with event_reader(rows.worker) as unit:
        assert await unit.cursors.lock("c", ALL_PROJECTS) == 0


async def test_a_cursor_never_goes_back(rows: Rows) -> None:
    """Events before it would be handled a second time."""
    async with event_reader(rows.worker) as unit:
        await unit.cursors.lock("c", ALL_PROJECTS)
        await unit.cursors.move("c", ALL_PROJECTS, position=7)
    async with event_reader(rows.worker) as unit:
        claimed = await unit.cursors.claim("c", ALL_PROJECTS, lease_s=60)
    assert claimed is not None
    with pytest.raises(ValueError, match="goes back"):
        async with event_reader(rows.worker) as unit:
            await unit.cursors.advance(claimed, 6)
    with pytest.raises(ValueError, match="goes back"):
        async with event_reader(rows.worker) as unit:
            await unit.cursors.move("c", ALL_PROJECTS, position=6)
    async with event_reader(rows.worker) as unit:
        await unit.cursors.advance(claimed, 7)
        assert await unit.cursors.lock("c", ALL_PROJECTS) == 7


@pytest.mark.parametrize("role", ["app", "worker"])
@pytest.mark.parametrize("column", ["position", "created_at"])
async def test_no_role_inserts_a_position_or_a_time(
    rows: Rows, database: stack.Database, role: str, column: str
) -> None:
    """A position that is taken would stop the sequencer of all tenants."""
    url = {"app": database.app_url, "worker": database.worker_url}[role]
    value = {"position": "1", "created_at": "now()"}[column]
    insert = "INSERT INTO event_log (id, project_id, type, subject, data{}) VALUES (%s, %s, {})"
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("SELECT set_config('app.project', %s, true)", [rows.first.project_id])
        row = ["evt_1", rows.first.project_id]
        connection.execute(insert.format("", "'t', 's', '{}'").encode(), row)
        query = insert.format(f", {column}", f"'t', 's', '{{}}', {value}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(query.encode(), row)


async def test_the_log_forgets_what_is_old_and_continues_counting(
    rows: Rows, database: stack.Database
) -> None:
    job, reader = await rows.job(), Reader(rows)
    await announce(rows, job, "old")
    assert await reader.messages() == ["old"]
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("UPDATE event_log SET created_at = now() - interval '8 days'")
    await announce(rows, job, "new")
    async with event_reader(rows.worker) as unit:
        assert await unit.log.forget(1, keep_s=7 * 86_400) == 1
        assert await unit.log.forget(9, keep_s=7 * 86_400) == 1
        assert await unit.log.forget(9, keep_s=7 * 86_400) == 0
    assert [event.position for event in await reader.events()] == [3]


async def test_events_of_one_job_are_in_the_order_of_their_commits(rows: Rows) -> None:
    """The second writer waits for the first, under the lock of the job's row."""
    job = await rows.job()
    async with rows.worker.tenant(rows.first) as slow:
        await append(slow, job, "one")
        late = asyncio.create_task(announce(rows, job, "two"))
        await asyncio.sleep(0.1)
        assert not late.done()
    await late
    async with rows.app.tenant(rows.first) as unit:
        events, _ = await unit.events.page(job.id, after=None, limit=10)
    assert [event.message for event in events] == ["two", "one", CREATED]
