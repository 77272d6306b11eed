"""Signs, spreads and retries the calls of customers' endpoints, and names their faults."""

import asyncio
import base64
import email.utils
import hashlib
import hmac
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import Final, Generic, TypeVar

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from standardwebhooks import Webhook

from app.kit.egress import EgressFailure, EgressReply, FailureKind
from app.kit.telemetry import (
    SPANS,
    Span,
    SpanName,
    SpanPosition,
    count_call,
    kind_of,
    span_of,
    trace_of,
)
from app.kit.texts import excerpt, shaped_data


def retry_after(value: str | None) -> float:
    """Returns the seconds of a Retry-After header (RFC 9110 §10.2.3), 0 if it is invalid."""
    if value is None:
        return 0.0
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        until = email.utils.parsedate_to_datetime(value)
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # a day or a zone beyond the calendar
        return 0.0


_SECRET_BYTES: Final = 32


def signing_secret(secret_key: str, project_id: str) -> str:
    derived = _derived(secret_key, "outbound-signing", project_id)
    return "whsec_" + base64.b64encode(derived).decode()


def cache_salt(secret_key: str, project_id: str) -> str:
    return _derived(secret_key, "engine-cache", project_id).hex()


def _derived(secret_key: str, purpose: str, project_id: str) -> bytes:
    info = f"agent-rft/{purpose}/v1/{project_id}".encode()
    return HKDF(SHA256(), _SECRET_BYTES, salt=None, info=info).derive(secret_key.encode())


class CallSigner:
    def __init__(
        self,
        secret_key: str,
        *older_keys: str,
        project_id: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """A call has one signature for each key, so that a change of the key breaks no receiver."""
        secrets = [signing_secret(key, project_id) for key in (secret_key, *older_keys)]
        self._webhooks = [Webhook(secret) for secret in secrets]
        self._code_key = _derived(secret_key, "judge-codes", project_id)
        self._now = now

    def code(self, call_id: str) -> str:
        """Returns ten hexadecimal digits that only the service can derive from a call's id."""
        return hmac.new(self._code_key, call_id.encode(), hashlib.sha256).hexdigest()[:10]

    def headers(self, call_id: str, trace_id: str, *, body: bytes, attempt: int) -> dict[str, str]:
        """Returns the headers of one attempt (from 1). `body`, UTF-8, must be sent unchanged."""
        now, text = self._now(), body.decode()
        signatures = [webhook.sign(call_id, now, text) for webhook in self._webhooks]
        return {
            "webhook-id": call_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
            "Idempotency-Key": call_id,
            "X-Rollout-Id": trace_id,
            "X-Attempt": str(attempt),
            "traceparent": traceparent(trace_id, call_id, attempt=attempt),
        }


def traceparent(trace_id: str, call_id: str, *, attempt: int) -> str:
    """The W3C Trace Context header: a rollout is a trace, each attempt a span that is recorded."""
    trace = trace_of(trace_id)
    flags = "01" if SPANS.samples(trace) else "00"
    return f"00-{trace}-{span_of(call_id, attempt)}-{flags}"


Value = TypeVar("Value")
_LONG: Final = 16_384


class FaultKind(StrEnum):
    ERROR = "error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    BAD_REPLY = "bad_reply"
    REFUSED = "refused"
    TOO_LARGE = "too_large"


_SHOWN: Final = 80


class EndpointFault(Exception):
    """The message names what came; `hide` adds the beginning of the body to it, as it may repeat a
    credential, of which a part would not be found after a cut.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float = 0,
        was_connected: bool = False,
        quoted: str = "",
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.retry_after_s = kind, message, retry_after_s
        self.status, self.quoted = status, quoted
        self.was_connected = was_connected
        self.attempts = 0

    def hide(self, hidden: Callable[[str], str]) -> None:
        quoted = " ".join(shaped_data(hidden(self.quoted)).split())
        self.message, self.quoted = hidden(self.message), ""
        if quoted:
            self.message += f": {excerpt(quoted, most=_SHOWN)}"
        self.args = (self.message,)


class GaveUp(EndpointFault):
    """An attempt that was not made, because the endpoint was down for too long."""


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    headers: Mapping[str, str]
    body: bytes
    call_id: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class EndpointAnswer(Generic[Value]):
    value: Value
    attempts: int
    latency_s: float


Read = Callable[[EgressReply], Value]
"""Parses a reply whose status is not always retried; raises `EndpointFault`."""


async def value_of(reply: EgressReply, read: Read[Value]) -> Value:
    """Parses a reply, a long one on a thread: other calls wait for this loop."""
    if len(reply.body) < _LONG:
        return read(reply)
    return await asyncio.to_thread(read, reply)


RETRIED_STATUSES: Final = frozenset({408, 425, 429})
_OF_NO_SERVER: Final = frozenset({502, 503})
"""Answers of a gateway whose server is down."""
KINDS: Final = {
    FailureKind.UNREACHABLE: FaultKind.UNREACHABLE,
    FailureKind.TIMEOUT: FaultKind.TIMEOUT,
    FailureKind.TOO_LARGE: FaultKind.TOO_LARGE,
    FailureKind.REFUSED: FaultKind.REFUSED,
    FailureKind.BAD_ENCODING: FaultKind.BAD_REPLY,
}


class Absence(Enum):
    OF_LISTENER = "nothing listens at the endpoint, which no request can cause"
    OF_SERVER = "no server may be behind the endpoint, or the request made it fail"


def absence_of(fault: EndpointFault) -> Absence | None:
    """Returns the absence that the fault shows. An overloaded gateway says when to retry."""
    if fault.kind is FaultKind.UNREACHABLE:
        return Absence.OF_SERVER if fault.was_connected else Absence.OF_LISTENER
    of_gateway = fault.status in _OF_NO_SERVER and not fault.retry_after_s
    return Absence.OF_SERVER if of_gateway else None


@dataclass(slots=True)
class MeasuredCall:
    attempts: int = 1


@contextmanager
def measured_call(request: EndpointRequest) -> Iterator[MeasuredCall]:
    """Counts the call that the block makes, whatever its end, and records its span."""
    kind, began, outcome = kind_of(request.call_id), time.perf_counter(), "cancelled"
    measured, caller = MeasuredCall(), SPANS.running
    try:
        position = SpanPosition(trace_of(request.trace_id), span_of(request.call_id))
        with SPANS.open(SpanName.CALL, position) as span:
            try:
                yield measured
                outcome = "answered"
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
def attempt_span(request: EndpointRequest, attempt: int) -> Iterator[Span]:
    position = SpanPosition(trace_of(request.trace_id), span_of(request.call_id, attempt))
    with SPANS.open(SpanName.ATTEMPT, position) as span:
        span.mark_asked()
        span.attributes["agent_rft.attempt"] = attempt
        try:
            yield span
        except EgressFailure as failure:
            span.error = failure.kind.value
            raise
