"""Messages in the broker's Redis, as a Celery worker reads them."""

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest
import redis
from structlog.testing import capture_logs

from app.kit import job_queue
from app.kit.job_queue import CeleryJobQueue
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database


@pytest.fixture
def broker(database: Database) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(database.settings.redis_url) as client:
        client.delete("runs", "control")
        yield client
        client.delete("runs", "control")


async def test_each_kind_goes_where_its_worker_listens(
    database: Database, broker: "redis.Redis"
) -> None:
    queue = CeleryJobQueue(database.settings.redis_url)
    try:
        await queue.enqueue_eval("evalrun_1")
        await asyncio.gather(queue.enqueue_deliveries(), queue.enqueue_run("ftjob-1"))
    finally:
        await queue.aclose()
    tasks = [json.loads(message)["headers"]["task"] for message in broker.lrange("control", 0, -1)]
    assert tasks == ["agent_rft.deliver_webhooks", "agent_rft.run_eval"]
    assert broker.llen("runs") == 1


async def test_a_broker_that_is_unavailable_is_no_fault_of_the_call() -> None:
    queue = CeleryJobQueue("redis://127.0.0.1:9/0")
    with capture_logs() as logs:
        await queue.enqueue_run("ftjob-1")
    await queue.aclose()
    (warning,) = logs
    assert warning["log_level"] == "warning"
    assert warning["unsent"] == [("agent_rft.run_job", "ftjob-1")]


async def test_a_broker_that_hangs_keeps_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "BROKER_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as hung:
        queue = CeleryJobQueue(f"redis://127.0.0.1:{hung.getsockname()[1]}/0")
        await asyncio.gather(*(queue.enqueue_run(f"ftjob-{number}") for number in range(40)))
        assert await asyncio.wait_for(asyncio.to_thread(lambda: True), PATIENCE_S)
    await queue.aclose()


async def test_celery_reads_and_acknowledges_it_as_one_of_its_own(
    database: Database, broker: "redis.Redis"
) -> None:
    queue = CeleryJobQueue(database.settings.redis_url)
    try:
        await queue.enqueue_run("ftjob-1")
    finally:
        await queue.aclose()
    with queue._celery.connection() as connection:
        consumer = connection.SimpleQueue("runs")
        message = consumer.get(timeout=PATIENCE_S)
        arguments, named, _ = message.payload
        assert (arguments, named) == (["ftjob-1"], {})
        assert message.headers["task"] == "agent_rft.run_job"
        message.ack()
        consumer.close()
    assert broker.llen("runs") == 0
    assert broker.hlen("unacked") == 0
