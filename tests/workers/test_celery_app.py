"""A Celery worker whose broker refuses writes, as Valkey does while its disk is full."""

import os
import subprocess
import sys
from pathlib import Path

import redis
from celery import Celery

from app.kit.job_queue import CONTROL_QUEUE, SWEEP_TASK, broker_settings
from app.settings import inherited_environment, to_environment
from tests.support.patience import wait_for
from tests.support.stack import Database

WORKER = ("-m", "celery", "-A", "workers.celery_app", "worker", "-Q", CONTROL_QUEUE, "-c", "1")
QUIET = ("-n", "control@test", "--loglevel", "INFO", "--without-mingle", "--without-gossip")
REFUSALS = ("NoPermissionError", "ExecAbortError", "ResponseError")


def _allow(broker: "redis.Redis", rule: str) -> None:
    """Changes the commands that the worker may send: it acknowledges a message with `ZREM`."""
    broker.execute_command("ACL", "SETUSER", "default", rule)  # type: ignore[no-untyped-call]  # the client has no type for it


def test_a_worker_outlives_a_broker_that_refuses_writes(database: Database, tmp_path: Path) -> None:
    settings = database.settings
    log = tmp_path / "control.log"
    sender = Celery("sender")
    sender.conf.update(broker_settings(settings.redis_url))

    def enqueue() -> None:
        sender.send_task(SWEEP_TASK, queue=CONTROL_QUEUE, ignore_result=True)

    environment = {**os.environ, **inherited_environment(), **to_environment(settings)}
    with redis.Redis.from_url(settings.redis_url) as broker, log.open("wb") as output:
        worker = subprocess.Popen(
            (sys.executable, *WORKER, *QUIET), env=environment, stdout=output, stderr=output
        )
        try:
            wait_for(lambda: " ready." in log.read_text(), what="a worker that is ready")
            # On a full disk Valkey answers "MISCONF … No space left on device"; both are errors.
            _allow(broker, "-zrem")
            enqueue()
            wait_for(
                lambda: any(name in log.read_text() for name in REFUSALS), what="a refused write"
            )
            _allow(broker, "+zrem")
            enqueue()
            wait_for(
                lambda: worker.poll() is not None or broker.llen(CONTROL_QUEUE) == 0,
                what="the end of the worker, or a message that it took",
            )
            assert worker.poll() is None, log.read_text()
        finally:
            _allow(broker, "+zrem")
            worker.kill()
            worker.wait()
