"""Requests that occupy a connection of the pool: any number of them is answered.

Uses real sockets; the pool has ten connections, and a request that gets none fails with 503 after
ten seconds: the answers decide, not a clock.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import EgressSettings
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database
from tests.support.web.api_server import ApiServer, running_api

ROWS = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
JOBS = "/fine_tuning/jobs"
MANY = 30
UPLOADS = 40


@pytest.fixture
def server(database: Database) -> Iterator[ApiServer]:
    egress = EgressSettings(allow_endpoints=("127.0.0.1:9",), allow_plain_http=True)
    with running_api(database.settings.model_copy(update={"egress": egress})) as server:
        yield server


def client(server: ApiServer, key: str | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=server.base_url,
        headers={"Authorization": f"Bearer {key or server.key}"},
        timeout=PATIENCE_S,
        limits=httpx.Limits(max_connections=None),
    )


async def a_body(http: httpx.AsyncClient) -> dict[str, Any]:
    form = {"file": ("rows.jsonl", ROWS)}
    files = [
        (await http.post("/files", files=form, data={"purpose": "fine-tune"})).json()["id"]
        for _ in range(2)
    ]
    grader = {"type": "endpoint", "url": "http://127.0.0.1:9"}
    return {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {"type": "reinforcement", "reinforcement": {"grader": grader}},
    }


async def test_many_keys_at_once_wait_for_each_other_and_not_for_ever(
    server: ApiServer, database: Database
) -> None:
    async with client(server) as http:
        body = await a_body(http)
        replies = await asyncio.gather(
            *(
                http.post(JOBS, json=body, headers={"Idempotency-Key": f"k-{number}"})
                for number in range(MANY)
            )
        )
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.json()["id"] for reply in replies}) == MANY
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        counted = connection.execute("SELECT count(*) FROM fine_tuning_jobs").fetchone()
    assert counted == (MANY,)


async def test_requests_that_hold_a_transaction_leave_connections_to_the_others(
    server: ApiServer, database: Database
) -> None:
    """A lock delays every request with a key between its insert and its commit."""
    url = database.superuser_url.replace("+psycopg", "")
    async with client(server) as http, client(server, server.other_key) as other:
        body = await a_body(http)
        made = (await http.post(JOBS, json=body)).json()
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE stored_responses IN SHARE MODE")
            held = [
                asyncio.create_task(
                    http.post(JOBS, json=body, headers={"Idempotency-Key": f"k-{number}"})
                )
                for number in range(20)
            ]
            await asyncio.sleep(1)
            for _ in range(10):
                assert (await http.get(f"{JOBS}/{made['id']}")).status_code == 200
                assert (await other.get(JOBS)).status_code == 200
                assert (await http.post(JOBS, json=body)).status_code == 200
            assert not any(request.done() for request in held)
            connection.rollback()
        replies = await asyncio.gather(*held)
    assert {reply.status_code for reply in replies} == {200}


async def _slow_upload(
    server: ApiServer, number: int, go: asyncio.Event, ending: asyncio.Semaphore
) -> int:
    """Sends a form; its last bytes follow when `go` is set, and `ending` lets it. Returns the
    reply's status.
    """
    form = (
        b'--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nfine-tune\r\n'
        b'--x\r\ncontent-disposition: form-data; name="file"; filename="r.jsonl"\r\n\r\n'
    ) + ROWS
    end = b"\r\n--x--\r\n"
    reader, writer = await asyncio.open_connection(*server.address)
    try:
        writer.write(
            b"POST /v1/files HTTP/1.1\r\nhost: test\r\nconnection: close\r\n"
            b"content-type: multipart/form-data; boundary=x\r\n"
            + f"authorization: Bearer {server.key}\r\nidempotency-key: up-{number}\r\n".encode()
            + f"content-length: {len(form) + len(end)}\r\n\r\n".encode()
            + form
        )
        await writer.drain()
        await go.wait()
        async with ending:
            writer.write(end)
            status = (await reader.readline()).split()[1]
            await reader.read()
        return int(status)
    finally:
        writer.close()


async def test_slow_uploads_under_keys_hold_no_connection(server: ApiServer) -> None:
    go = asyncio.Event()
    async with client(server) as http:
        body = await a_body(http)
        # All at once would wait for connections, longer than the service allows on a busy machine.
        ending = asyncio.Semaphore(5)
        slow = [
            asyncio.create_task(_slow_upload(server, number, go, ending))
            for number in range(UPLOADS)
        ]
        await asyncio.sleep(1)
        made = (await http.post(JOBS, json=body, headers={"Idempotency-Key": "k"})).json()
        assert (await http.get(f"{JOBS}/{made['id']}")).status_code == 200
        assert not any(request.done() for request in slow)
        go.set()
        assert set(await asyncio.gather(*slow)) == {200}
        listed = (await http.get("/files", params={"limit": 200})).json()["data"]
    assert len(listed) == UPLOADS + 2
