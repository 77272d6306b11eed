"""A Celery worker whose broker refuses writes, as Valkey does while its disk is full."""

import os
import subprocess
import sys
from pathlib import Path

import redis

from app.domain.jobs.jobs import CONTROL_QUEUE
from app.settings.environment import inherited_environment, to_environment
from tests.support.patience import wait_for
from tests.support.stack import Database

WORKER = ("-m", "celery", "-A", "workers.celery_app", "worker", "-Q", CONTROL_QUEUE, "-c", "1")
QUIET = ("-n", "control@test", "--loglevel", "INFO", "--without-mingle", "--without-gossip")


def test_a_worker_outlives_a_broker_that_refuses_writes(database: Database, tmp_path: Path) -> None:
    settings = database.settings
    log = tmp_path / "control.log"
    environment = {**os.environ, **inherited_environment(), **to_environment(settings)}
    with redis.Redis.from_url(settings.redis_url) as broker, log.open("wb") as output:
        worker = subprocess.Popen(
            (sys.executable, *WORKER, *QUIET), env=environment, stdout=output, stderr=output
        )
        try:
            wait_for(lambda: " ready." in log.read_text(), what="a worker that is ready")
            # Valkey answers "MISCONF … No space left on device"; both are error replies.
            broker.config_set("min-replicas-to-write", 1)
            wait_for(lambda: "NOREPLICAS" in log.read_text(), what="a refused write")
            broker.config_set("min-replicas-to-write", 0)
            broker.lpush(CONTROL_QUEUE, "no message")
            wait_for(
                lambda: worker.poll() is not None or broker.llen(CONTROL_QUEUE) == 0,
                what="the end of the worker, or a message that it took",
            )
            assert worker.poll() is None, log.read_text()
        finally:
            broker.config_set("min-replicas-to-write", 0)
            worker.kill()
            worker.wait()
