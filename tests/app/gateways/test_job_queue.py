"""Messages in the broker's Redis, as a Celery worker reads them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from structlog.testing import capture_logs

from app.kit.job_queue import CeleryJobQueue
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database

RANDOM = {"id", "root_id", "correlation_id", "delivery_tag", "reply_to"}


@pytest.fixture
def broker(database: Database) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(database.settings.redis_url) as client:
        client.delete("runs", "control")
        yield client
        client.delete("runs", "control")


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "*" if key in RANDOM else plain(inner) for key, inner in value.items()}
    return value


async def test_a_notification_is_the_message_that_celery_itself_would_send(
    database: Database, broker: "redis.Redis"
) -> None:
    queue = CeleryJobQueue(database.settings.redis_url)
    try:
        await queue.enqueue_run("ftjob-1")
    finally:
        await queue.aclose()
    queue._celery.send_task("agent_rft.run_job", args=["ftjob-1"], queue="runs", ignore_result=True)
    theirs, ours = (json.loads(message) for message in broker.lrange("runs", 0, -1))
    assert plain(ours) == plain(theirs)
    for ids in ("id", "root_id"):
        assert ours["headers"][ids] == ours["properties"]["correlation_id"]


async def test_each_kind_goes_where_its_worker_listens(
    database: Database, broker: "redis.Redis"
) -> None:
    queue = CeleryJobQueue(database.settings.redis_url)
    try:
        await queue.enqueue_eval("evalrun_1")
        await queue.enqueue_deliveries()
    finally:
        await queue.aclose()
    tasks = [json.loads(message)["headers"]["task"] for message in broker.lrange("control", 0, -1)]
    assert tasks == ["agent_rft.deliver_webhooks", "agent_rft.run_eval"]
    assert broker.llen("runs") == 0


async def test_a_broker_that_is_unavailable_is_no_fault_of_the_call() -> None:
    queue = CeleryJobQueue("redis://127.0.0.1:9/0")
    with capture_logs() as logs:
        await queue.enqueue_run("ftjob-1")
    await queue.aclose()
    (warning,) = logs
    assert warning["log_level"] == "warning"
    assert (warning["task"], warning["ids"]) == ("agent_rft.run_job", ("ftjob-1",))


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
