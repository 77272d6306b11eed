"""The job queue: best-effort notifications for workers. Postgres is the source of truth.

A message contains an id only. A lost message does not lose a job: the sweeper sends another one.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Protocol

import structlog
from celery import Celery
from kombu.exceptions import KombuError
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = structlog.get_logger()

RUN_TASK: Final = "agent_rft.run_job"
RUNS_QUEUE: Final = "runs"
CONTROL_QUEUE: Final = "control"
EVAL_TASK: Final = "agent_rft.run_eval"
EXPORT_TASK: Final = "agent_rft.run_export"
DELIVER_TASK: Final = "agent_rft.deliver_webhooks"
TRACK_TASK: Final = "agent_rft.track"
SWEEP_TASK: Final = "agent_rft.sweep"
EXPIRE_TASK: Final = "agent_rft.expire"
BROKER_TIMEOUT_S = 2.0


def broker_settings(redis_url: str) -> dict[str, Any]:
    """Returns the settings that all processes share: any one's shortest timeout applies to all."""
    return {
        "broker_url": redis_url,
        "result_backend": None,
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_default_queue": CONTROL_QUEUE,
        "broker_connection_retry_on_startup": True,
        "broker_transport_options": {
            # Longer than any task takes to acknowledge: recovery never depends on redelivery.
            "visibility_timeout": 86_400,
            "socket_connect_timeout": BROKER_TIMEOUT_S,
            "socket_timeout": None,
        },
    }


class JobQueue(Protocol):
    async def enqueue_run(self, job_id: str) -> None: ...
    async def enqueue_eval(self, run_id: str) -> None: ...
    async def enqueue_export(self, export_id: str) -> None: ...
    async def enqueue_deliveries(self) -> None: ...
    async def unread(self, queue: str) -> int | None:
        """Returns the messages that no worker has taken; `None` while the broker is unavailable."""
        ...

    async def answers(self) -> bool: ...

    async def attended(self) -> frozenset[str]: ...

    async def aclose(self) -> None: ...


class CeleryJobQueue:
    def __init__(self, redis_url: str) -> None:
        # Not set as current: inside a worker the current application must be the worker's own.
        self._celery = Celery("agent-rft-api", set_as_current=False)
        settings = broker_settings(redis_url)
        # A broker that hangs or is away must not keep a thread of the service.
        settings["broker_transport_options"] |= {
            "socket_timeout": BROKER_TIMEOUT_S,
            "max_retries": 0,
        }
        self._celery.conf.update(settings)
        self._redis: Redis = Redis.from_url(
            redis_url, socket_timeout=BROKER_TIMEOUT_S, socket_connect_timeout=BROKER_TIMEOUT_S
        )
        self._unsent: list[tuple[str, tuple[str, ...], str]] = []
        self._sending = asyncio.Lock()

    async def aclose(self) -> None:
        await self._redis.aclose()
        await asyncio.to_thread(self._celery.close)

    async def enqueue_run(self, job_id: str) -> None:
        await self._notify(RUN_TASK, job_id, queue=RUNS_QUEUE)

    async def enqueue_eval(self, run_id: str) -> None:
        await self._notify(EVAL_TASK, run_id, queue=CONTROL_QUEUE)

    async def enqueue_export(self, export_id: str) -> None:
        await self._notify(EXPORT_TASK, export_id, queue=CONTROL_QUEUE)

    async def enqueue_deliveries(self) -> None:
        await self._notify(DELIVER_TASK, queue=CONTROL_QUEUE)

    async def unread(self, queue: str) -> int | None:
        try:
            async with asyncio.timeout(BROKER_TIMEOUT_S):
                return int(await self._redis.llen(queue))
        except (RedisError, OSError, TimeoutError):
            return None

    async def answers(self) -> bool:
        try:
            async with asyncio.timeout(BROKER_TIMEOUT_S):
                return bool(await self._redis.ping())
        except (RedisError, OSError, TimeoutError):
            return False

    async def attended(self) -> frozenset[str]:
        # The call collects replies for all of this time.
        inspection = self._celery.control.inspect(timeout=1.0)
        try:
            replies = await asyncio.to_thread(inspection.active_queues) or {}
        except (KombuError, RedisError, OSError) as error:
            log.warning("workers not asked", error=type(error).__name__)
            return frozenset()
        return frozenset(queue["name"] for queues in replies.values() for queue in queues)

    async def _notify(self, task: str, *subject: str, queue: str) -> None:
        """The first that waits sends for all: threads side by side would slow the requests."""
        self._unsent.append((task, subject, queue))
        async with self._sending:
            messages, self._unsent = self._unsent, []
            if not messages:
                return
            try:
                async with asyncio.timeout(2 * BROKER_TIMEOUT_S):
                    await asyncio.to_thread(self._send, messages)
            except (KombuError, RedisError, OSError, TimeoutError) as error:
                unsent = [(task, *subject) for task, subject, _ in messages]
                log.warning("messages not sent", unsent=unsent, error=type(error).__name__)

    def _send(self, messages: Sequence[tuple[str, tuple[str, ...], str]]) -> None:
        with self._celery.producer_pool.acquire(block=True) as producer:
            for task, subject, queue in messages:
                self._celery.send_task(
                    task, args=subject, queue=queue, retry=False, producer=producer
                )
