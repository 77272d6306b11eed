"""The live stream of a job: no gap and no repeat, its end, its limits, and what it costs.

Uses real sockets: a stream is read while other connections write.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest

from app.database import Database as Store
from app.jobs.streams import JobWatch, StreamService
from app.kit.callers import Tenant
from app.kit.errors import AuthenticationFailed
from app.kit.ids import OrganizationId, ProjectId
from app.rollouts.metrics import MetricPoint
from app.settings import EgressSettings
from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, execute
from tests.support.dashboard.streams import EventSource, Message, reading
from tests.support.dashboard.visits import Visit
from tests.support.patience import PATIENCE_S, until
from tests.support.stack import Database
from tests.support.web.api_server import ApiServer, running_api

JOBS = "/v1/fine_tuning/jobs"
STREAMS = 12
WRITERS = 4
CURVES = ("reward/mean", "train/loss")
EVENTS = 30
"""Events that each writer commits."""


@pytest.fixture
def stopping() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def server(database: Database, stopping: ExitStack) -> ApiServer:
    settings = database.settings
    changes = {
        "quotas": settings.quotas.model_copy(update={"streams_in_flight": STREAMS}),
        "egress": EgressSettings(allow_endpoints=("127.0.0.1:9",), allow_plain_http=True),
        "stream_heartbeat_s": 0.2,
    }
    return stopping.enter_context(running_api(settings.model_copy(update=changes)))


@pytest.fixture
async def api(server: ApiServer) -> AsyncIterator[Api]:
    limits = httpx.Limits(max_connections=None)
    root = server.base_url.removesuffix("/v1")
    async with httpx.AsyncClient(base_url=root, timeout=PATIENCE_S, limits=limits) as http:
        yield Api(http, server.key, server.other_key, "")


def path_of(job: str) -> str:
    return f"{JOBS}/{job}/stream"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def writing(database: Database, job: str) -> AsyncIterator[tuple[Store, Tenant]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        query = "SELECT organization_id, project_id FROM fine_tuning_jobs WHERE id = %s"
        row = connection.execute(query, (job,)).fetchone()
    assert row is not None
    store = Store(database.settings.worker_database_url)
    try:
        yield store, Tenant(OrganizationId(row[0]), ProjectId(row[1]), "first", "key")
    finally:
        await store.dispose()


async def commit_step(store: Store, tenant: Tenant, job: str, step: int) -> None:
    """Commits two curves of a step with its event, as the writer of a run does."""
    async with store.tenant(tenant) as unit:
        await unit.events.append(
            job, level="info", type="metrics", message=f"Step {step}", data={"step": step}
        )
        points = [MetricPoint(name, "train", step, step + 0.5) for name in CURVES]
        await unit.metrics.upsert(job, points)
        await asyncio.sleep(0)  # another writer comes between


async def events_of(api: Api, job: str) -> list[str]:
    """Returns the ids of all events, oldest first."""
    found: list[str] = []
    while True:
        after = {"after": found[-1]} if found else {}
        page = await api.call("GET", f"{JOBS}/{job}/events", params={"limit": 100, **after})
        found += [event["id"] for event in page.json()["data"]]
        if not page.json()["has_more"]:
            return found[::-1]


async def test_no_event_is_lost_or_repeated_across_reconnects_under_writes(
    api: Api, database: Database
) -> None:
    job = await create_job(api)
    received: list[Message] = []

    async def read() -> None:
        last_id, reads = None, 0
        while True:
            headers = bearer(api.key)
            async with reading(api.http, path_of(job), last_id=last_id, **headers) as source:
                assert source.reply.headers["content-type"].startswith("text/event-stream")
                async for message in source.messages():
                    if message.id is not None:
                        received.append(message)
                        reads += 1
                        if reads % 7 == 0:  # the connection breaks
                            break
                    elif message.data["status"] == "cancelled":
                        return
                last_id = source.last_id

    async with writing(database, job) as (store, tenant):

        async def write(number: int) -> None:
            for step in range(number, WRITERS * EVENTS, WRITERS):
                await commit_step(store, tenant, job, step + 1)

        reader = asyncio.create_task(read())
        await asyncio.gather(*(write(number) for number in range(WRITERS)))
        assert (await api.call("POST", f"{JOBS}/{job}/cancel")).status_code == 200
        await reader
    assert [message.id for message in received] == await events_of(api, job)
    metrics = [message.data for message in received if message.event == "metrics"]
    steps = {event["data"]["step"]: event["points"] for event in metrics}
    assert len(steps) == WRITERS * EVENTS
    for step, points in steps.items():
        value = {"split": "train", "step": step, "value": step + 0.5}
        assert points == [{"name": name, **value} for name in CURVES]


async def test_a_stream_shows_the_state_and_ends_with_the_job(api: Api) -> None:
    job = await create_job(api)
    states: list[str] = []
    async with reading(api.http, path_of(job), **bearer(api.key)) as source:
        async for message in source.messages():
            if message.event == "job":
                states.append(message.data["status"])
                if len(states) == 1:
                    await api.call("POST", f"{JOBS}/{job}/pause")
                elif len(states) == 2:
                    await api.call("POST", f"{JOBS}/{job}/cancel")
        last_id = source.last_id
    assert (states[-2:], len(states)) == (["paused", "cancelled"], 3)
    again = await api.call("GET", path_of(job), headers={"Last-Event-ID": str(last_id)})
    assert (again.status_code, again.content) == (204, b"")  # a browser asks no more
    newest = (await events_of(api, job))[-1]
    assert newest == last_id
    async with reading(api.http, path_of(job), **bearer(api.key)) as source:
        whole = [message async for message in source.messages()]
    assert [one.id for one in whole if one.id] == await events_of(api, job)


async def test_another_projects_job_and_event_are_not_found(api: Api) -> None:
    job, other = await create_job(api), await create_job(api)
    foreign = await api.call("GET", path_of(job), key=api.other_key)
    never = await api.call("GET", path_of("ftjob-never"))
    assert (foreign.status_code, never.status_code) == (404, 404)
    assert foreign.json()["error"]["message"] == f"Could not find fine tune: {job}"
    [of_other, *_] = await events_of(api, other)
    cases: list[tuple[str, dict[str, Any]]] = [
        ("Last-Event-ID", {"headers": {"Last-Event-ID": of_other}}),
        ("Last-Event-ID", {"headers": {"Last-Event-ID": of_other}, "params": {"after": "x"}}),
        ("Last-Event-ID", {"headers": {"Last-Event-ID": "x" * 129}}),
        ("after", {"headers": {"Last-Event-ID": ""}, "params": {"after": of_other}}),
    ]
    for sent_as, sent in cases:
        refused = await api.call("GET", path_of(job), **sent)
        error = refused.json()["error"]
        assert (refused.status_code, error["param"], sent_as in error["message"]) == (
            400,
            sent_as,
            True,
        )
    assert (await api.call("GET", path_of(job), params={"afer": "x"})).status_code == 400
    assert (await api.http.get(path_of(job))).status_code == 401
    assert (await api.http.get(f"/jobs/{job}/stream")).status_code == 401


async def test_a_page_gets_a_sign_of_news(api: Api) -> None:
    job = await create_job(api)
    visit = Visit(api.http)
    origin = {"origin": str(api.http.base_url)}
    await visit.post("/sign-in", {"api_key": api.other_key, "next": "/"}, origin)
    assert (await visit.get(f"/jobs/{job}/stream")).status_code == 404
    await visit.post("/sign-in", {"api_key": api.key, "next": "/"}, origin)
    newest = (await events_of(api, job))[-1]
    path = f"/jobs/{job}/stream?after={newest}"
    async with reading(api.http, path) as source:
        messages = source.messages()
        first = await anext(messages)
        assert (first.event, first.id) == ("news", None)
        await api.call("POST", f"{JOBS}/{job}/cancel")
        following = [message async for message in messages]
    assert [one.id for one in following] == [(await events_of(api, job))[-1], None]
    assert (await visit.get(f"/jobs/{job}/stream?after={source.last_id}")).status_code == 204


async def test_a_projects_streams_are_limited_and_hold_no_connection(
    api: Api, database: Database
) -> None:
    job, others = await create_job(api), await create_job(api, key=api.other_key)
    async with AsyncExitStack() as open_streams:
        sources = [
            await open_streams.enter_async_context(
                reading(api.http, path_of(job), **bearer(api.key))
            )
            for _ in range(STREAMS)
        ]
        reading_on = [asyncio.create_task(drained(source)) for source in sources]
        refused = await api.call("GET", path_of(job))
        assert refused.status_code == 429
        assert "live streams of this project are running" in refused.json()["error"]["message"]
        await until(lambda: all(source.comments for source in sources), what="heartbeats")
        # More streams than connections of the pool, and each of them waits. One may look for events
        # at any moment, but not all of the time.
        await until(lambda: waiting_transactions(database) == 0, what="no open transaction")
        assert (await api.call("GET", f"{JOBS}/{job}")).status_code == 200
        async with reading(api.http, path_of(others), **bearer(api.other_key)) as source:
            assert (await anext(source.messages())).event == "message"
        for task in reading_on:
            task.cancel()
        await asyncio.gather(*reading_on, return_exceptions=True)

    async def is_free() -> bool:
        async with reading(api.http, path_of(job), **bearer(api.key)) as source:
            return source.reply.status_code == 200

    await until(is_free, what="a free stream")


async def drained(source: EventSource) -> None:
    async for _ in source.messages():
        pass


def waiting_transactions(database: Database) -> int:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND state = 'idle in transaction'"
        ).fetchone()
    assert row is not None
    return int(row[0])


async def test_a_stream_ends_with_its_key(api: Api, database: Database) -> None:
    job = await create_job(api)
    async with reading(api.http, path_of(job), **bearer(api.key)) as source:
        reader = asyncio.create_task(drained(source))
        await until(lambda: source.comments > 0, what="a heartbeat")
        query = "UPDATE api_keys SET expires_at = now() WHERE key_id = %s"
        execute(database, query, (api.key.split("_")[2],))
        await asyncio.wait_for(reader, PATIENCE_S)
    assert (await api.call("GET", path_of(job))).status_code == 401


async def test_a_stream_that_is_never_quiet_checks_its_key_too(
    api: Api, database: Database
) -> None:
    job, items = await create_job(api), 0

    async def refuse() -> None:
        raise AuthenticationFailed("the key has ended")

    async with writing(database, job) as (store, tenant):
        watch = JobWatch(store, heartbeat_s=1.0)
        stream = await StreamService(watch, tenant).open(job, after=None)
        assert stream is not None
        async for _ in stream.items(refuse):
            items += 1
            assert items < 100, "it continues without a look at the key"
            await commit_step(store, tenant, job, items)
        await watch.aclose()


async def test_a_server_that_stops_ends_its_streams(api: Api, stopping: ExitStack) -> None:
    job = await create_job(api)
    async with reading(api.http, path_of(job), **bearer(api.key)) as source:
        messages = source.messages()
        assert (await anext(messages)).event == "message"
        stopped = asyncio.create_task(asyncio.to_thread(stopping.close))
        assert [one.event async for one in messages][-1:] in ([], ["job"])
        await stopped
