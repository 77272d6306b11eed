"""Measures calls to endpoints: counts by kind and outcome, and a span for each call and attempt.

Must not see a body, a header or an address.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from app.domain.http.status import is_error
from app.gateways.egress.egress import EgressFailure
from app.gateways.endpoints.calls import EndpointFault, EndpointRequest
from app.telemetry.calls import count_call, kind_of
from app.telemetry.spans import SPANS, OpenSpan, SpanName, SpanPosition
from app.telemetry.trace_ids import span_of, trace_of

_ANSWERED: Final = "answered"
_CANCELLED: Final = "cancelled"


@dataclass(slots=True)
class MeasuredCall:
    attempts: int = 1


@contextmanager
def measured_call(request: EndpointRequest) -> Iterator[MeasuredCall]:
    """Counts the call that the block makes, whatever its end, and records its span."""
    kind, began, outcome = kind_of(request.call_id), time.perf_counter(), _CANCELLED
    measured, caller = MeasuredCall(), SPANS.running
    try:
        with SPANS.open(SpanName.CALL, _position(request)) as span:
            try:
                yield measured
                outcome = _ANSWERED
            except EndpointFault as fault:
                outcome, measured.attempts = fault.kind.value, max(1, fault.attempts)
                span.error = outcome
                raise
            finally:
                span.mark_asked()
                span.attributes["agent_rft.call.id"] = request.call_id
                span.attributes["agent_rft.call.kind"] = kind
                span.attributes["agent_rft.call.attempts"] = measured.attempts
                if caller is not None and caller.label is not None:
                    span.attributes["agent_rft.call.name"] = caller.label
    finally:
        seconds = time.perf_counter() - began
        count_call(kind, outcome, attempts=measured.attempts, seconds=seconds)


@contextmanager
def attempt_span(request: EndpointRequest, attempt: int) -> Iterator[OpenSpan]:
    """Records the span of one attempt, whose id is in the `traceparent` that is sent with it."""
    position = SpanPosition(trace_of(request.trace_id), span_of(request.call_id, attempt))
    with SPANS.open(SpanName.ATTEMPT, position) as span:
        span.mark_asked()
        span.attributes["agent_rft.attempt"] = attempt
        try:
            yield span
        except EgressFailure as failure:
            span.error = failure.kind.value
            raise


def note_status(span: OpenSpan, status: int) -> None:
    """Records the status of an attempt's reply."""
    span.attributes["http.response.status_code"] = status
    if is_error(status):
        span.error = str(status)


def _position(request: EndpointRequest) -> SpanPosition:
    return SpanPosition(trace_of(request.trace_id), span_of(request.call_id))
