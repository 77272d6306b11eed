"""The Celery application of the GPU plane: queues, acknowledgement, schedule. Loads no torch.
Messages are best-effort notifications; Postgres is the source of truth. They are acknowledged
early: recovery comes from the lease in the row, never from redelivery (measured: redelivery after a
kill takes a visibility timeout plus up to 100 s).
"""

import logging
from typing import Any

from celery import Celery
from celery.signals import celeryd_init
from kombu.entity import Queue

from app.kit.job_queue import (
    CONTROL_QUEUE,
    DELIVER_TASK,
    EVAL_TASK,
    EXPIRE_TASK,
    EXPORT_TASK,
    RUN_TASK,
    RUNS_QUEUE,
    SWEEP_TASK,
    TRACK_TASK,
    broker_settings,
)
from app.kit.logs import log_to_stderr
from app.kit.span_export import ExporterMissing, check_installed
from app.settings import Settings, load_settings
from workers.telemetry.metrics_server import serve_metrics

EXPIRE_INTERVAL_S = 600.0
"""Expired rows are hidden at once; their bytes may remain this long."""
DELIVERY_INTERVAL_S = 2.0
TRACK_INTERVAL_S = 5.0


_CONTROL_TASKS = (SWEEP_TASK, EVAL_TASK, EXPORT_TASK, DELIVER_TASK, TRACK_TASK, EXPIRE_TASK)


def _every(seconds: float, task: str, *, expires_s: float | None = None) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"expires": expires_s or seconds}}


def create_celery(settings: Settings) -> Celery:
    sweep_s = settings.lease.sweep_interval_s
    celery = Celery("agent-rft", include=["workers.tasks"])
    celery.conf.update(broker_settings(settings.redis_url))
    celery.conf.update(
        task_queues=[Queue(name) for name in (RUNS_QUEUE, CONTROL_QUEUE)],  # type: ignore[no-untyped-call]  # kombu ships no types
        task_routes={
            **{name: {"queue": CONTROL_QUEUE} for name in _CONTROL_TASKS},
            RUN_TASK: {"queue": RUNS_QUEUE},
        },
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        # A message fetched ahead would wait behind a job of hours.
        worker_disable_prefetch=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        broker_connection_max_retries=None,
        # Valkey on a full disk refuses writes, an acknowledgement too. By default that error ends
        # the worker.
        broker_channel_error_retry=True,
        beat_schedule={
            # One sweep replaces all those that pile up while the broker is not available.
            "sweep": _every(sweep_s, SWEEP_TASK, expires_s=2 * sweep_s),
            "deliver_webhooks": _every(DELIVERY_INTERVAL_S, DELIVER_TASK),
            "write_trackers": _every(TRACK_INTERVAL_S, TRACK_TASK),
            "expire": _every(EXPIRE_INTERVAL_S, EXPIRE_TASK),
        },
    )
    return celery


def hide_ticks() -> None:
    """Drops Celery's lines about each message and each periodic task, several a second."""
    for name in ("celery.worker.strategy", "celery.app.trace", "celery.beat"):
        logging.getLogger(name).setLevel(logging.WARNING)


@celeryd_init.connect  # type: ignore[untyped-decorator]  # celery has no types
def begin_telemetry(**_: object) -> None:
    """Prepares telemetry before the worker forks. Ends a worker whose spans cannot be exported."""
    settings = load_settings()
    if settings.telemetry.span_export() is not None:
        try:
            check_installed()
        except ExporterMissing as error:
            raise SystemExit(str(error)) from None
    serve_metrics(settings)


log_to_stderr()
hide_ticks()
app = create_celery(load_settings())
