"""Ids of traces and spans by W3C Trace Context, as functions of what they are about.

A rollout is a trace, and so is a job with its steps. Both planes and every claim of a job derive
the same ids, so a span can name its parent, and a call its span, before either has ended.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, Protocol, Self

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.kit.span_export import SpanExport, check_installed

_TRACE_DIGITS: Final = 32
_NO_HEX_DIGIT: Final = re.compile(r"[^0-9a-f]")


def trace_of(trace_id: str) -> str:
    """Returns the trace of a rollout's `trace_…` id, or of any other text."""
    digits = _NO_HEX_DIGIT.sub("", trace_id.removeprefix("trace_"))
    if len(digits) == _TRACE_DIGITS:
        return digits
    return hashlib.sha256(trace_id.encode()).hexdigest()[:_TRACE_DIGITS]


def trace_of_job(job_id: str) -> str:
    return hashlib.sha256(f"job/{job_id}".encode()).hexdigest()[:_TRACE_DIGITS]


def span_of(*position: str | int) -> str:
    text = "/".join(str(part) for part in position)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


Value = str | int | float | bool


class SpanName(StrEnum):
    JOB = "job"
    STEP = "step"
    COMPARISON = "comparison"
    ROLLOUT = "rollout"
    TURN = "turn"
    CALL = "call"
    """A call to a tool, grader or environment with all its attempts."""
    ATTEMPT = "attempt"
    EVAL_RUN = "eval_run"
    EXPORT = "export"


_OF_ROLLOUTS: Final = (SpanName.ROLLOUT, SpanName.TURN, SpanName.CALL, SpanName.ATTEMPT)


@dataclass(frozen=True, slots=True)
class SpanPosition:
    trace: str
    span: str


@dataclass(slots=True)
class Span:
    """Times are nanoseconds since 1970."""

    name: SpanName
    position: SpanPosition
    parent: str | None
    started_ns: int
    ended_ns: int = 0
    attributes: dict[str, Value] = field(default_factory=dict)
    """Ids, names, counts and durations: never a text of a customer or a model."""
    links: list[SpanPosition] = field(default_factory=list)
    error: str | None = None
    above: "Span | None" = None
    asked: bool = False
    """True once something was asked of an engine or an endpoint, not replayed."""

    @classmethod
    def begun(cls, name: SpanName, position: SpanPosition, above: "Span | None") -> Self:
        span = cls(name, position, None, time.time_ns(), above=above)
        if above is not None and above.position.trace == position.trace:
            span.parent = above.position.span
        elif above is not None:
            # A call in a trace of its own, such as a judge's of a whole group, links to its caller.
            span.links.append(above.position)
        return span

    def mark_asked(self) -> None:
        self.asked = True
        if self.above is not None and not self.above.asked:
            self.above.mark_asked()


class SpanSink(Protocol):
    """Receives the spans of a process. Its methods return at once and raise nothing."""

    def record(self, span: Span) -> None: ...

    def samples(self, trace: str) -> bool: ...


class RunningSpan(NamedTuple):
    span: Span
    label: str | None = None


class Spans:
    def __init__(self) -> None:
        self._sink: SpanSink | None = None
        self._running: ContextVar[RunningSpan | None] = ContextVar("running_span", default=None)

    @property
    def are_recorded(self) -> bool:
        return self._sink is not None

    def begin(self, sink: SpanSink) -> None:
        self._sink = sink

    def stop(self) -> None:
        self._sink = None

    @property
    def running(self) -> RunningSpan | None:
        return self._running.get()

    def mark_asked(self) -> None:
        if (running := self.running) is not None:
            running.span.mark_asked()

    def mark_failed(self, failure: str) -> None:
        if (running := self.running) is not None:
            running.span.error = failure

    def samples(self, trace: str) -> bool:
        """Whether the trace's spans are recorded; yes without a sink, for customers' tracing."""
        return True if self._sink is None else self._sink.samples(trace)

    def record(self, span: Span) -> None:
        sink, trace = self._sink, span.position.trace
        if sink is not None and (span.name not in _OF_ROLLOUTS or sink.samples(trace)):
            sink.record(span)

    @contextmanager
    def open(self, name: SpanName, position: SpanPosition) -> Iterator[Span]:
        above = self.running
        span = Span.begun(name, position, None if above is None else above.span)
        try:
            with self.resumed(RunningSpan(span)):
                yield span
        except BaseException as error:
            span.error = span.error or type(error).__name__
            raise
        finally:
            if span.asked:
                span.ended_ns = time.time_ns()
                self.record(span)

    @contextmanager
    def labelled(self, name: str) -> Iterator[None]:
        running = self.running
        with self.resumed(None if running is None else RunningSpan(running.span, name)):
            yield

    @contextmanager
    def resumed(self, running: RunningSpan | None) -> Iterator[None]:
        """Makes a span the running one, also in a task that did not begin below it."""
        token = self._running.set(running)
        try:
            yield
        finally:
            self._running.reset(token)


SPANS: Final = Spans()

CALLS: Final = CollectorRegistry()
"""The metrics of calls. API and workers both make calls, and serve them."""
OTHER: Final = "other"
SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

_calls: Final = Counter(
    "agent_rft_endpoint_calls",
    "Calls to tools, graders and environments that have ended, with all their attempts.",
    ("kind", "outcome"),
    registry=CALLS,
)
_retries: Final = Counter(
    "agent_rft_endpoint_retries",
    "Attempts of these calls after the first.",
    ("kind",),
    registry=CALLS,
)
_seconds: Final = Histogram(
    "agent_rft_endpoint_call_duration_seconds",
    "Time of a call with its attempts and the waits between them.",
    ("kind",),
    buckets=SECONDS,
    registry=CALLS,
)


def kind_of(call_id: str) -> str:
    """Returns `tool`, `grader` (judges too), `environment`, or `other` for calls of the service."""
    kinds = {"call": "tool", "grade": "grader", "episode": "environment"}
    return kinds.get(call_id.partition("_")[0], OTHER)


def count_call(kind: str, outcome: str, *, attempts: int, seconds: float) -> None:
    """Counts a call. `outcome` is `answered`, or the kind of its fault."""
    _calls.labels(kind, outcome).inc()
    _retries.labels(kind).inc(max(0, attempts - 1))
    _seconds.labels(kind).observe(seconds)


EXPORTS: Final = CollectorRegistry()
SPANS_TOTAL: Final = Counter(
    "agent_rft_spans",
    "Spans of jobs by what became of them: exported, failed (the collector refused them or did not "
    "take them in time), dropped (the queue was full, or the process ended).",
    ("outcome",),
    registry=EXPORTS,
)


@asynccontextmanager
async def exporting_spans(export: SpanExport | None) -> AsyncIterator[None]:
    if export is None:
        yield
        return
    check_installed()
    from app.kit.otlp import OtlpSink  # noqa: PLC0415 - needs the optional extra

    sink = OtlpSink(export)
    SPANS.begin(sink)
    try:
        yield
    finally:
        SPANS.stop()
        await asyncio.to_thread(sink.close)
