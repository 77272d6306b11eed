"""Operators watch an API process by its probes and its metrics in Prometheus' format.

No text of a client becomes a label: a path is shown as its route's template, and an unknown method
as `other`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, Self

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.process_collector import ProcessCollector
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from app.http.dependencies import Context
from app.http.error_replies import RETRY_AFTER_S
from app.http.health import Health, PartName
from app.http.requests import ROUTED, Middleware
from app.jobs.jobs import JobStatus, StatusCount
from app.kit.errors import AuthenticationFailed
from app.kit.fields import DescribedModel
from app.kit.http import has_key
from app.kit.schemas import ErrorBody, ErrorEnvelope
from app.kit.telemetry import CALLS


class PartObject(DescribedModel):
    """The state of one part of the service."""

    status: Literal["ok", "failing"]
    """`failing` if the part does not do its work."""
    problem: str | None = Field(None, description="What is wrong, and what it means for callers")
    detail: str | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="More about a part that works: the layers of the sandbox",
    )


def _parts(health: Health) -> dict[PartName, PartObject]:
    return {
        name: PartObject(
            status="ok" if part.ok else "failing", problem=part.problem, detail=part.detail
        )
        for name, part in health.parts.items()
    }


class Readiness(DescribedModel):
    """A service that can be called."""

    status: Literal["ok", "degraded"] = Field(
        description="`degraded` while the broker, the workers, the engine or the sandbox fail: "
        "requests are served, jobs wait, calls of a model and graders that run code may fail"
    )
    parts: dict[PartName, PartObject]
    """The parts by name."""

    @classmethod
    def of(cls, health: Health) -> Self:
        status: Literal["ok", "degraded"] = "degraded" if health.degraded else "ok"
        return cls(status=status, parts=_parts(health))


class NotReady(ErrorEnvelope):
    """A service that cannot be called: its database fails, or its disk is full."""

    parts: dict[PartName, PartObject]
    """The parts by name."""

    @classmethod
    def of(cls, health: Health) -> Self:
        names = ", ".join(health.missing)
        problems = " ".join(health.parts[name].problem or "" for name in health.missing)
        error = ErrorBody(
            message=f"Not ready ({names}). {problems}",
            type="server_error",
            param=health.missing[0],
            code="service_unavailable",
        )
        return cls(error=error, parts=_parts(health))


health_router = APIRouter(tags=["Service"])


@health_router.get("/healthz", operation_id="liveness")
async def liveness() -> dict[str, str]:
    """Answers while the process runs. Needs no key."""
    return {"status": "ok"}


@health_router.get(
    "/readyz",
    operation_id="readiness",
    response_model=Readiness,
    responses={503: {"model": NotReady, "description": "The database or the disk fails."}},
)
async def readiness(context: Context) -> Readiness | JSONResponse:
    """Reports the parts of the service: database, disk, broker, worker, engine, sandbox. Answers
    503 while the database does not answer or a disk has less free space than the minimum.
    """
    health = await context.health.look()
    if health.ready:
        return Readiness.of(health)
    body = NotReady.of(health).model_dump(mode="json")
    return JSONResponse(body, status_code=503, headers={"retry-after": RETRY_AFTER_S})


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"})
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)
_WAITING: Final = (JobStatus.VALIDATING_FILES, JobStatus.QUEUED)


class ProcessMetrics:
    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "agent_rft_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "agent_rft_http_request_duration_seconds",
            "Time to the end of the reply; live streams last as long as their clients listen.",
            ("route",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._in_flight = Gauge(
            "agent_rft_http_requests_in_flight", "Requests being answered.", registry=registry
        )
        self._jobs = Gauge(
            "agent_rft_jobs", "Jobs of all tenants by status.", ("status",), registry=registry
        )
        self._oldest = Gauge(
            "agent_rft_oldest_waiting_job_seconds",
            "Time since the oldest job that waits for a worker was queued; 0 if none waits.",
            registry=registry,
        )
        self._parts = Gauge(
            "agent_rft_part_up",
            "1 for a part of the service that answers, as in /readyz; else 0.",
            ("part",),
            registry=registry,
        )

    @contextmanager
    def request(self, scope: Any) -> Iterator["Answer"]:
        answer, began = Answer(), time.perf_counter()
        self._in_flight.inc()
        try:
            yield answer
        finally:
            self._in_flight.dec()
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # No route: the request was refused before or by the router.
            route = getattr(scope.get("state", {}).get(ROUTED), "path", "none")
            self._requests.labels(method, route, str(answer.status)).inc()
            self._seconds.labels(route).observe(time.perf_counter() - began)

    def show(self, health: Health, counts: list[StatusCount] | None) -> bytes:
        """`counts` is `None` without the database: stale metrics of jobs would look current."""
        self._jobs.clear()
        for name, part in health.parts.items():
            self._parts.labels(name).set(part.ok)
        by_status = {count.status: count for count in counts or ()}
        for status in JobStatus if counts is not None else ():
            jobs = by_status[status].jobs if status in by_status else 0
            self._jobs.labels(status.value).set(jobs)
        waiting = [by_status[status].oldest_s for status in _WAITING if status in by_status]
        self._oldest.set(float("nan") if counts is None else max(waiting, default=0.0))
        return generate_latest(self._registry) + generate_latest(CALLS)


class Answer:
    status = 499
    """Its status; 499 until it begins, as when the client hangs up before."""


class RequestCounter(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics: ProcessMetrics | None = None
        if scope["type"] == "http":
            metrics = scope["app"].state.process_metrics
        if metrics is None:
            await self._app(scope, receive, send)
            return
        with metrics.request(scope) as answer:

            async def send_counted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    answer.status = message["status"]
                await send(message)

            await self._app(scope, receive, send_counted)


class RouteRecorder(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                scope["state"][ROUTED] = scope.get("route")


metrics_router = APIRouter(include_in_schema=False)


@metrics_router.get("/metrics")
async def process_metrics(request: Request, context: Context) -> Response:
    """Raises `AuthenticationFailed` for any key but the operator's `AGENT_RFT_MONITORING_KEY`."""
    key = context.settings.monitoring_key
    if key is None:
        raise HTTPException(404)
    if not has_key(request.headers.get("authorization"), key.get_secret_value()):
        raise AuthenticationFailed(
            "Send the operator's AGENT_RFT_MONITORING_KEY as bearer token; a project's key reads "
            "no metrics.",
            code="invalid_api_key",
        )
    content = request.app.state.process_metrics.show(*await context.health.look_at_jobs_too())
    return Response(content, media_type=CONTENT_TYPE_LATEST)
