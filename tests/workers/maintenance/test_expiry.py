import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from app.files.files import FileRow, NewFile
from app.files.service import FileService
from app.files.upload_service import UploadService
from app.http.idempotency_store import StoredResponse
from app.jobs.jobs import StopRequest
from app.kit.errors import NotFound
from app.kit.http import HttpResponse
from app.kit.objects import LocalObjects
from tests.support.runs.world import World
from tests.support.stack import Database
from workers.maintenance.expiry import expire, expire_once
from workers.processes.clients import PeriodicTasks
from workers.processes.event_follower import WEBHOOKS, Follower


async def blocks(content: bytes) -> AsyncIterator[bytes]:
    yield content


class ExpiringRows:
    """Files and uploads of the first tenant, and their bytes."""

    def __init__(self, world: World, database: Database) -> None:
        self.world = world
        self.objects = LocalObjects(world.settings.objects_dir)
        self.files = FileService(world.app, self.objects, world.tenant)
        self.uploads = UploadService(world.app, self.objects, world.tenant)
        self._url = database.superuser_url.replace("+psycopg", "")

    async def file(self, *, lifetime_s: int | None = None) -> FileRow:
        new = NewFile("a", "user_data", lifetime_s)
        return await self.files.upload(blocks(b"x"), purpose="user_data", described=lambda: new)

    async def upload(self) -> str:
        upload = await self.uploads.create(NewFile("a", "user_data", None), size=1, mime_type="t")
        await self.uploads.add_part(upload, blocks(b"x"))
        return upload.id

    def pass_time(self, table: str, column: str, row_id: str, interval: str) -> None:
        with psycopg.connect(self._url) as connection:
            change = f"UPDATE {table} SET {column} = now() - interval '{interval}' WHERE id = %s"
            connection.execute(change.encode(), [row_id])

    def age_answer(self, key: str, interval: str) -> None:
        with psycopg.connect(self._url) as connection:
            change = f"UPDATE stored_responses SET created_at = now() - interval '{interval}'"
            connection.execute(f"{change} WHERE key = %s".encode(), [key])

    def rows(self, table: str) -> list[str]:
        with psycopg.connect(self._url) as connection:
            found = connection.execute(f"SELECT id FROM {table} ORDER BY created_at".encode())
            return [str(row[0]) for row in found]

    def bytes_of(self) -> set[str]:
        below = self.world.settings.objects_dir.rglob("*")
        return {path.name for path in below if path.is_file()}

    async def sweep(self) -> None:
        await expire(self.world.worker, self.objects, self.world.inference)


@pytest.fixture
def expiring(world: World, database: Database) -> ExpiringRows:
    return ExpiringRows(world, database)


async def test_an_expired_file_loses_its_row_and_its_bytes(expiring: ExpiringRows) -> None:
    kept, expired = await expiring.file(lifetime_s=3600), await expiring.file(lifetime_s=3600)
    expiring.pass_time("files", "expires_at", expired.id, "1 second")
    await expiring.sweep()
    assert expiring.rows("files") == [kept.id]
    assert expiring.bytes_of() == {kept.id}


async def test_the_clock_runs_it_with_its_own_connection(expiring: ExpiringRows) -> None:
    expired = await expiring.file(lifetime_s=3600)
    expiring.pass_time("files", "expires_at", expired.id, "1 second")

    def two_rounds() -> set[object]:
        ticks = PeriodicTasks(lambda: expiring.world.settings)
        try:
            ticks.run(expire_once)
            first = ticks._clients
            ticks.run(expire_once)
            return {first, ticks._clients}
        finally:
            ticks.close()

    clients = await asyncio.to_thread(two_rounds)
    assert len(clients) == 1
    assert None not in clients
    assert expiring.rows("files") == []
    assert expiring.bytes_of() == set()


async def test_a_file_that_an_unfinished_job_reads_stays_until_the_job_ends(
    expiring: ExpiringRows, world: World
) -> None:
    file, job = await expiring.file(lifetime_s=3600), await world.job()
    with psycopg.connect(expiring._url) as connection:
        connection.execute("UPDATE fine_tuning_jobs SET training_file = %s", [file.id])
    expiring.pass_time("files", "expires_at", file.id, "1 second")
    await expiring.sweep()
    assert expiring.bytes_of() == {file.id}
    with pytest.raises(NotFound):
        await expiring.files.get(file.id)
    context = await world.context(job)
    async with context.unit() as unit:
        assert (await unit.files.get_for_run(file.id)).object_key == file.object_key
    async with world.app.tenant(world.tenant) as app_unit:
        await app_unit.jobs.request_stop(job.id, StopRequest.CANCEL)
    await expiring.sweep()
    assert file.id not in expiring.rows("files")
    assert expiring.bytes_of() == set()


async def test_a_deleted_files_row_serves_as_a_cursor_for_a_day(expiring: ExpiringRows) -> None:
    files = [await expiring.file() for _ in range(3)]
    await expiring.files.delete(files[1].id)
    await expiring.sweep()
    page, _ = await expiring.files.page(purpose=None, after=files[1].id, limit=9, order="asc")
    assert [file.id for file in page] == [files[2].id]
    expiring.pass_time("files", "deleted_at", files[1].id, "25 hours")
    await expiring.sweep()
    assert expiring.rows("files") == [files[0].id, files[2].id]


async def test_parts_go_when_their_uploads_time_is_over_and_the_row_a_day_later(
    expiring: ExpiringRows,
) -> None:
    live, over, old = [await expiring.upload() for _ in range(3)]
    expiring.pass_time("uploads", "expires_at", over, "1 second")
    expiring.pass_time("uploads", "expires_at", old, "25 hours")
    await expiring.sweep()
    assert expiring.rows("uploads") == [live, over]
    assert len(expiring.bytes_of()) == 1
    assert len(expiring.rows("upload_parts")) == 2
    await expiring.uploads.cancel(live)
    assert expiring.bytes_of() == set()


async def test_bytes_that_never_got_a_row_go_once_they_are_old(expiring: ExpiringRows) -> None:
    file = await expiring.file()
    beside = (expiring.world.settings.objects_dir / file.object_key).parent
    names = ("file-neverarow", ".file-brokenoff.1f", "something-else")
    for name in (*names, "file-justnow"):
        (beside / name).write_bytes(b"x")
    hours_ago = time.time() - 2 * 3600
    for path in (beside / name for name in (*names, file.id)):
        os.utime(path, (hours_ago, hours_ago))
    await expiring.sweep()
    assert expiring.bytes_of() == {file.id, "something-else", "file-justnow"}


async def test_a_directory_without_objects_removes_no_row(
    expiring: ExpiringRows, tmp_path: Path
) -> None:
    living, expired = await expiring.file(lifetime_s=3600), await expiring.file(lifetime_s=3600)
    expiring.pass_time("files", "expires_at", expired.id, "1 second")
    objects = LocalObjects(tmp_path / "not there")
    await expire(expiring.world.worker, objects, expiring.world.inference)
    assert expiring.rows("files") == [living.id]
    assert expiring.bytes_of() == {living.id, expired.id}, "they are elsewhere"


async def test_answers_are_kept_for_a_day(expiring: ExpiringRows) -> None:
    response = HttpResponse(200, "application/json", b"{}")
    async with expiring.world.app.request(expiring.world.tenant) as unit:
        await unit.stored_responses.put("young", b"f", response)
        await unit.stored_responses.put("old", b"f", response)
    expiring.age_answer("old", "25 hours")
    await expiring.sweep()
    async with expiring.world.app.request(expiring.world.tenant) as unit:
        assert await unit.stored_responses.find("old") is None
        assert await unit.stored_responses.find("young") == StoredResponse(b"f", response)


async def test_logged_events_are_kept_for_a_week(expiring: ExpiringRows) -> None:
    for _ in range(2):
        await expiring.world.job()
    await Follower(expiring.world.worker, (WEBHOOKS,)).catch_up()
    [old_event, young_event] = expiring.rows("event_log")
    expiring.pass_time("event_log", "created_at", old_event, "8 days")
    expiring.pass_time("event_log", "created_at", young_event, "6 days")
    await expiring.sweep()
    assert expiring.rows("event_log") == [young_event]
    assert len(expiring.rows("job_events")) == 2, "a job keeps its own list"
