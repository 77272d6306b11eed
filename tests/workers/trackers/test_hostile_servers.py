"""MLflow servers that answer without end, with bombs, or with malformed ids."""

import gzip
from collections.abc import AsyncIterator

import pytest

from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.trackers.mlflow_jobs import TOKEN, follow, tracked_job
from tests.support.trackers.mlflow_server import MlflowServer
from tests.support.trackers.tracked_steps import commit_steps, warnings_of

TOO_LARGE = "sends replies over 8 MiB"
BOMB = gzip.compress(b'{"experiment": {"name": "' + b"x" * (64 * 1024**2) + b'"}}')
CHUNK = b"x" * 65_536
MOST_SENT = 32 * 1024**2
"""Bytes of an endless reply, what waits in the sockets' buffers included."""


async def endless(status: str) -> AsyncIterator[bytes]:
    yield f"HTTP/1.1 {status}\r\n\r\n".encode()
    while True:
        yield CHUNK


async def chunked(status: str) -> AsyncIterator[bytes]:
    yield f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    while True:
        yield b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK)


def bomb(_: ReceivedRequest) -> Reply:
    return Reply(body=BOMB, headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        pytest.param(bomb, TOO_LARGE, id="bomb"),
        pytest.param(lambda _: endless("200 OK"), TOO_LARGE, id="endless"),
        pytest.param(lambda _: chunked("200 OK"), TOO_LARGE, id="chunked"),
        pytest.param(lambda _: chunked("404 Not Found"), TOO_LARGE, id="error"),
        pytest.param(
            lambda _: chunked("503 Service Unavailable"), "answers INTERNAL_ERROR", id="tried-again"
        ),
    ],
)
async def test_a_reply_is_read_up_to_a_limit(
    world: World, database: Database, script: Script, fault: str
) -> None:
    async with endpoint(script) as server:
        job = await tracked_job(world, server, database)
        await commit_steps(world, job, 1)
        await follow(world, server)
        assert server.sent_bytes < MOST_SENT
    [warning] = await warnings_of(world, job)
    assert warning.startswith(f"MLflow cannot be written: its server {fault}.")


@pytest.mark.parametrize("run_id", ["r" * 65, "r/../x", 'r"><b>', "r\u2028", ".", ""])
async def test_a_malformed_id_of_a_run_is_a_fault_of_the_server(
    world: World, database: Database, run_id: str
) -> None:
    mlflow = MlflowServer(TOKEN, run_id=run_id)
    async with endpoint(mlflow.answer) as server:
        job = await tracked_job(world, server, database)
        await commit_steps(world, job, 1)
        await follow(world, server)
    assert mlflow.metrics == []
    [warning] = await warnings_of(world, job)
    assert warning.startswith("MLflow cannot be written: its server gives a run or an experiment")
    async with world.app.tenant(world.tenant) as unit:
        assert await unit.events.links(job.id) == []
