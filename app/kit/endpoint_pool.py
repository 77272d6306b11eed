"""Calls endpoints with retries and limits, and measures for how long one has given no answer.

Works in a single event loop.
"""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from app.kit.egress import Egress, EgressFailure, EgressReply, EgressRequest, check_headers
from app.kit.endpoint_limits import (
    CALLS_TO_OPEN,
    Breaker,
    Clock,
    ConcurrencySlots,
    OutagePatience,
    Pacer,
    SystemClock,
)
from app.kit.endpoints import (
    KINDS,
    RETRIED_STATUSES,
    CallSigner,
    EndpointAnswer,
    EndpointFault,
    EndpointRequest,
    FaultKind,
    GaveUp,
    Read,
    Value,
    absence_of,
    attempt_span,
    measured_call,
    retry_after,
    value_of,
)
from app.kit.errors import EndpointRefused
from app.kit.http import is_error, is_server_error
from app.kit.redaction import Echoes

SILENT_S: Final = 60.0
"""Seconds without an answer from which an endpoint is silent, unless its answers are slow."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A period in which an endpoint answers none of the waiting calls."""

    silent_s: float
    """Seconds since the first call that got no answer."""
    rollouts: int
    gives_up_in_s: float
    last_fault: str | None
    """The fault of the last attempt that ended; `None` if all are still under way."""
    ends_job: bool = False
    """True for an endpoint that has never answered: the job ends when its calls give up."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    endpoint: str
    """Host and path."""
    answers: int
    outage: Outage | None
    never_came_up: bool = False
    """True if it has answered no call, and was down when its calls gave up."""


@dataclass(slots=True)
class _PendingCall:
    trace_id: str
    deadline: float
    sent_at: float | None = None


@dataclass(slots=True)
class WaitingCalls:
    """The calls that wait for one endpoint. Times are those of the pool's clock."""

    answers: int = 0
    _answered_at: float = float("-inf")
    _failing_since: float | None = None
    _last_fault: str | None = None
    _slowest_s: float = 0.0
    _pending: dict[str, _PendingCall] = field(default_factory=dict)

    def begun(self, call_id: str, trace_id: str, *, deadline: float) -> None:
        self._pending[call_id] = _PendingCall(trace_id, deadline)

    def sent(self, call_id: str, now: float) -> None:
        call = self._pending.get(call_id)
        if call is not None and call.sent_at is None:
            call.sent_at = now

    def answered(self, now: float, *, latency_s: float) -> None:
        self.answers += 1
        self._answered_at, self._last_fault, self._failing_since = now, None, None
        self._slowest_s = max(self._slowest_s, latency_s)

    def failed(self, now: float, fault: str) -> None:
        self._last_fault = fault
        if self._failing_since is None:
            self._failing_since = now

    def ended(self, call_id: str) -> None:
        self._pending.pop(call_id, None)

    @property
    def is_waited_for(self) -> bool:
        return bool(self._pending)

    @property
    def sent_calls(self) -> int:
        return sum(call.sent_at is not None for call in self._pending.values())

    def outage(self, now: float, *, patience_ends: float | None, is_known: bool) -> Outage | None:
        """Returns the outage once the breaker opens, or once no call has been answered for long.
        `patience_ends` is when calls of an open breaker give up; `None` while it is closed.
        """
        since = self._since()
        if since is None:
            return None
        bound_s = max(SILENT_S, 2.0 * self._slowest_s)
        if patience_ends is None and now - since < bound_s:
            return None
        last = max(call.deadline for call in self._pending.values())
        gives_up = last if patience_ends is None else min(last, patience_ends)
        return Outage(
            silent_s=now - since,
            rollouts=len({call.trace_id for call in self._pending.values()}),
            gives_up_in_s=max(0.0, gives_up - now),
            last_fault=self._last_fault,
            ends_job=patience_ends is not None and not is_known,
        )

    def _since(self) -> float | None:
        """When the first call was sent or failed that waits for an answer; `None` without one."""
        sent = [call.sent_at for call in self._pending.values() if call.sent_at is not None]
        if self._pending and self._failing_since is not None:
            sent.append(self._failing_since)
        return max(self._answered_at, min(sent)) if sent else None


MAX_REQUEST_BYTES: Final = 1_048_576


class EndpointPool:
    """The endpoints of one run. Tools and graders of one URL share its limits."""

    def __init__(
        self,
        egress: Egress,
        *,
        timeout_s: float,
        max_retries: int,
        outages: OutagePatience | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`timeout_s` is the deadline of one call with all its retries; `jitter` is in [0, 1).
        Without `outages` a call waits for an endpoint that is down only if many others do.
        """
        self.egress, self.timeout_s, self.max_retries = egress, timeout_s, max_retries
        self.outages = outages
        self.clock = clock or SystemClock()
        self.jitter = jitter
        self._endpoints: dict[str, Endpoint] = {}
        self._pending = 0
        self._last_change = 0.0

    def endpoint(self, url: str, *, rate_limit: float | None = None) -> "Endpoint":
        """Returns the endpoint of a URL; a declared rate (requests per second) applies at once."""
        endpoint = self._endpoints.setdefault(url, Endpoint(self, url))
        if rate_limit is not None:
            endpoint.declare_rate(rate_limit)
        return endpoint

    def waited_s(self) -> float | None:
        """Returns the seconds since the last begin or end of a call; `None` if none is pending."""
        return self.clock.now() - self._last_change if self._pending else None

    def overdue_s(self, limit_s: float) -> float | None:
        """Returns the seconds since the first of the awaited endpoints was found down, from
        `limit_s` on, or once its calls will soon give up; `None` before.
        """
        every = self._endpoints.values()
        waits = [one.breaker.overdue_s(limit_s) for one in every if one.silence.is_waited_for]
        return max((wait for wait in waits if wait is not None), default=None)

    def states(self) -> list[EndpointState]:
        return [endpoint.state() for endpoint in self._endpoints.values()]

    @contextmanager
    def pending(self) -> Iterator[None]:
        self._pending += 1
        self._last_change = self.clock.now()
        try:
            yield
        finally:
            self._pending -= 1
            self._last_change = self.clock.now()


class Endpoint:
    def __init__(self, pool: EndpointPool, url: str) -> None:
        self._pool, self._url = pool, url
        self._rate: float | None = None
        self._pacer: Pacer | None = None
        self._calls = 0
        self._last_fault, self._down = FaultKind.UNREACHABLE, "the endpoint is down"
        self.slots = ConcurrencySlots()
        is_known = pool.outages is None or pool.outages.is_known
        self.breaker = Breaker(pool.clock, patience_s=pool.timeout_s, is_known=is_known)
        self.silence = WaitingCalls()

    def state(self) -> EndpointState:
        now, ends = self._pool.clock.now(), self.breaker.patience_ends
        is_known = self.breaker.is_known
        outage = self.silence.outage(now, patience_ends=ends, is_known=is_known)
        parts = urlsplit(self._url)  # user information and query may be secrets
        shown = (parts.netloc.rpartition("@")[2] + parts.path)[:200]
        return EndpointState(shown, self.silence.answers, outage, self.breaker.never_came_up)

    def declare_rate(self, rate: float) -> None:
        if self._rate is None or rate < self._rate:
            self._rate, self._pacer = rate, Pacer(rate, self._pool.clock)

    async def call(
        self, request: EndpointRequest, read: Read[Value], *, signer: CallSigner
    ) -> EndpointAnswer[Value]:
        """Sends POST requests until an answer is usable. Raises `EndpointFault`."""
        if len(request.body) > MAX_REQUEST_BYTES:
            raise EndpointFault(FaultKind.TOO_LARGE, "the request is larger than 1 MB")
        # The queue behind the declared rate is our own, so its time is added to the deadline.
        queue_s = self._calls / self._rate if self._rate else 0.0
        deadline = self._pool.clock.now() + self._pool.timeout_s + queue_s
        self._calls += 1
        self.silence.begun(request.call_id, request.trace_id, deadline=deadline)
        try:
            with self._pool.pending(), measured_call(request) as measured:
                answer = await self._call_with_retries(request, read, signer, deadline=deadline)
                measured.attempts = answer.attempts
                return answer
        except EndpointFault as fault:
            # The message may repeat words of a reply, and is stored, shown and logged.
            fault.hide(Echoes(request.headers, self._url).hidden_in)
            raise
        finally:
            self.silence.ended(request.call_id)
            self.breaker.ended(request.call_id)
            self._calls -= 1

    async def _call_with_retries(
        self, request: EndpointRequest, read: Read[Value], signer: CallSigner, *, deadline: float
    ) -> EndpointAnswer[Value]:
        attempt, failed = 1, 0
        while True:
            try:
                reply = await self._attempt(request, signer, attempt, deadline=deadline)
                value = await value_of(reply, read)
                return EndpointAnswer(value, attempt, reply.latency_s)
            except EndpointFault as fault:
                fault.attempts = attempt
                # An attempt that only found that the endpoint is still down does not count.
                is_waiting = self._pool.outages is not None and self.breaker.has_patience
                is_absent = absence_of(fault) is not None and not isinstance(fault, GaveUp)
                failed += not (is_waiting and is_absent)
                delay = self._delay(fault, failed)
                if delay is None or self._pool.clock.now() + delay >= deadline:
                    raise
            await self._pool.clock.sleep(delay)
            attempt += 1

    def _delay(self, fault: EndpointFault, failed: int) -> float | None:
        """Seconds before the next attempt, after so many that count; `None`: no retry."""
        # Calls of an endpoint that has been down for too long have few retries.
        gives_up = self._pool.outages is not None and self.breaker.is_open
        most = min(self._pool.max_retries, 3 if gives_up else math.inf)
        if fault.kind in (FaultKind.REFUSED, FaultKind.TOO_LARGE) or failed > most:
            return None
        longest = min(30.0, 0.5 * 2.0 ** max(0, failed - 1))
        return max(self._pool.jitter() * longest, fault.retry_after_s)

    async def _attempt(
        self, request: EndpointRequest, signer: CallSigner, attempt: int, *, deadline: float
    ) -> EgressReply:
        clock = self._pool.clock
        if not await self.slots.take(clock, deadline=deadline, first=attempt > 1):
            if self.breaker.is_open:
                raise GaveUp(self._last_fault, self._down)
            raise EndpointFault(FaultKind.TIMEOUT, "no answer: too many calls before this one")
        try:
            if not await self.breaker.wait_to_send(request.call_id, deadline=deadline):
                raise GaveUp(self._last_fault, self._down)
            return await self._send(request, signer, attempt, deadline=deadline)
        finally:
            self.slots.leave()

    async def _send(
        self, request: EndpointRequest, signer: CallSigner, attempt: int, *, deadline: float
    ) -> EgressReply:
        in_flight = self.slots.taken
        try:
            if self._pacer is not None:
                await self._pacer.wait()
                in_flight = self.slots.taken
            self.silence.sent(request.call_id, self._pool.clock.now())
            reply = await self._post(request, signer, attempt, deadline=deadline)
        except EndpointFault as fault:
            self._record_fault(fault, request.call_id, in_flight, first=attempt == 1)
            raise
        except BaseException:
            self.breaker.abandoned(request.call_id)
            raise
        self.silence.answered(self._pool.clock.now(), latency_s=reply.latency_s)
        if self.breaker.answered():
            self.slots.restart()
        self.slots.served()
        return reply

    async def _post(
        self, request: EndpointRequest, signer: CallSigner, attempt: int, *, deadline: float
    ) -> EgressReply:
        signed = signer.headers(
            request.call_id, request.trace_id, body=request.body, attempt=attempt
        )
        remaining = max(0.001, deadline - self._pool.clock.now())
        try:
            check_headers(request.headers)
            with attempt_span(request, attempt) as span:
                reply = await self._pool.egress.send(
                    EgressRequest(
                        self._url, {**request.headers, **signed}, request.body, timeout_s=remaining
                    )
                )
                span.attributes["http.response.status_code"] = reply.status
                if is_error(reply.status):
                    span.error = str(reply.status)
        except EndpointRefused as refused:
            raise EndpointFault(FaultKind.REFUSED, str(refused)) from None
        except EgressFailure as failure:
            raise EndpointFault(
                KINDS[failure.kind], str(failure), was_connected=failure.was_connected
            ) from None
        if reply.status in RETRIED_STATUSES or is_server_error(reply.status):
            raise EndpointFault(
                FaultKind.ERROR,
                f"answered {reply.status}",
                status=reply.status,
                retry_after_s=retry_after(reply.headers.get("retry-after")),
            )
        return reply

    def _record_fault(
        self, fault: EndpointFault, call_id: str, in_flight: int, *, first: bool
    ) -> None:
        is_alive = fault.kind in (FaultKind.BAD_REPLY, FaultKind.TOO_LARGE, FaultKind.REFUSED)
        timed_out = fault.kind is FaultKind.TIMEOUT
        if not is_alive:
            self.silence.failed(self._pool.clock.now(), fault.message)
        if timed_out or fault.status in (429, 503):
            self.slots.refused(in_flight)
        if is_alive or fault.status in RETRIED_STATUSES:
            self.breaker.answered()
            return
        self._last_fault, self._down = fault.kind, f"the endpoint is down: {fault.message}"
        # So many calls must find the endpoint down that the others need not try.
        enough = CALLS_TO_OPEN
        if self._pool.outages is not None:
            enough = max(1, min(CALLS_TO_OPEN, self.silence.sent_calls))
        self.breaker.failed(
            call_id,
            counts=first or fault.kind is FaultKind.UNREACHABLE,
            absence=absence_of(fault),
            enough=enough,
            timed_out=timed_out,
        )
