"""Exports spans over OTLP/HTTP with OpenTelemetry's SDK, an optional extra of the package."""

import threading
from collections.abc import Sequence
from typing import Any, Final

import structlog
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision

from app.kit.span_export import SpanExport
from app.kit.telemetry import SPANS_TOTAL, Span, SpanName, SpanPosition

log = structlog.get_logger()

_SERVICE: Final = "agent-rft"
_SAMPLED: Final = otel.TraceFlags(otel.TraceFlags.SAMPLED)


class OtlpSink:
    def __init__(self, export: SpanExport) -> None:
        base = export.endpoint
        target = None if base is None else f"{base.rstrip('/')}/v1/traces"
        inner = OTLPSpanExporter(endpoint=target, headers=dict(export.headers) or None)
        self._counting = _Counting(inner)
        self._most_queued = export.most_queued
        self._close_limit_s = export.close_limit_s
        self._handed = 0
        self._ids = _GivenIds()
        # The sampler of the standard variables decides about a rollout before its first span.
        self._sampler = TracerProvider(shutdown_on_exit=False).sampler
        self._processor = BatchSpanProcessor(
            self._counting,
            max_queue_size=export.most_queued,
            max_export_batch_size=min(512, export.most_queued),
        )
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=_resource(),
            shutdown_on_exit=False,
            id_generator=self._ids,
            span_limits=SpanLimits(max_links=100_000),  # a step has one to each of its rollouts
        )
        provider.add_span_processor(self._processor)
        self._tracer = provider.get_tracer(_SERVICE)

    def samples(self, trace: str) -> bool:
        result = self._sampler.should_sample(None, int(trace, 16), SpanName.ROLLOUT.value)
        return bool(result.decision is Decision.RECORD_AND_SAMPLE)

    def record(self, span: Span) -> None:
        if self._handed - self._counting.taken >= self._most_queued:
            SPANS_TOTAL.labels("dropped").inc()
            return
        try:
            self._end(span)
        except Exception:  # a fault of the library must not end a job
            SPANS_TOTAL.labels("dropped").inc()
            log.exception("span not recorded", name=span.name)
            return
        self._handed += 1

    def close(self) -> None:
        closing = threading.Thread(target=self._processor.shutdown, name="spans", daemon=True)
        closing.start()
        closing.join(self._close_limit_s)
        left = self._handed - self._counting.close()
        if left:
            SPANS_TOTAL.labels("dropped").inc(left)
            log.warning("spans dropped, the collector does not take them", spans=left)

    def _end(self, span: Span) -> None:
        self._ids.next = span.position
        is_attempt = span.name is SpanName.ATTEMPT
        kind = otel.SpanKind.CLIENT if is_attempt else otel.SpanKind.INTERNAL
        above = None if span.parent is None else SpanPosition(span.position.trace, span.parent)
        begun = self._tracer.start_span(
            span.name.value,
            # An empty context where there is no parent: the thread's own may have a span.
            context={} if above is None else _context(above),
            kind=kind,
            attributes=dict(span.attributes),
            links=[otel.Link(_span_context(position)) for position in span.links],
            start_time=span.started_ns,
        )
        if span.error is not None:
            begun.set_attribute("error.type", span.error)
            begun.set_status(otel.StatusCode.ERROR)
        begun.end(end_time=span.ended_ns)


class _Counting(SpanExporter):  # type: ignore[misc]  # without the extra the class has no type
    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.taken = 0
        self._settled = 0
        """Spans of which it is known whether they were exported."""
        self._lock = threading.Lock()
        self._is_closed = False

    def export(self, spans: Sequence[Any]) -> Any:
        self.taken += len(spans)
        result = None
        try:
            result = self._inner.export(spans)
            return result
        finally:
            outcome = "exported" if result is SpanExportResult.SUCCESS else "failed"
            with self._lock:
                if not self._is_closed:
                    self._settled += len(spans)
                    SPANS_TOTAL.labels(outcome).inc(len(spans))

    def close(self) -> int:
        """Returns the spans whose end is known; the others count no more."""
        with self._lock:
            self._is_closed = True
            return self._settled

    def shutdown(self) -> None:
        self._inner.shutdown()


class _GivenIds(IdGenerator):  # type: ignore[misc]  # without the extra the class has no type
    """Gives the next span the ids of its position, instead of random ones."""

    def __init__(self) -> None:
        self.next = SpanPosition("0" * 32, "0" * 16)

    def generate_trace_id(self) -> int:
        return int(self.next.trace, 16)

    def generate_span_id(self) -> int:
        return int(self.next.span, 16)


def _span_context(position: SpanPosition) -> Any:
    return otel.SpanContext(
        int(position.trace, 16), int(position.span, 16), is_remote=False, trace_flags=_SAMPLED
    )


def _context(position: SpanPosition) -> Any:
    return otel.set_span_in_context(otel.NonRecordingSpan(_span_context(position)), {})


def _resource() -> Any:
    resource = Resource.create({})
    named = str(resource.attributes.get("service.name", ""))
    if named and not named.startswith("unknown_service"):
        return resource
    return resource.merge(Resource({"service.name": _SERVICE}))
