"""An endpoint behind an egress whose answers take time on a clock of the test."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.kit.egress import EgressFailure, EgressReply, EgressRequest, FailureKind
from app.kit.endpoint_limits import OutagePatience
from app.kit.endpoint_pool import Endpoint, EndpointPool
from app.kit.endpoints import CallSigner, EndpointAnswer, EndpointRequest
from tests.support.egress.clock import VirtualClock

URL = "https://tool.example/"
SIGNER = CallSigner("a service secret key of 32 bytes and more", project_id="proj_a")
OK = EgressReply(200, {}, b"ok", 0.0)


@dataclass
class TimedEgress:
    """An endpoint in virtual time: `serve(now, in flight)` returns reply and seconds, or raises."""

    clock: VirtualClock
    serve: Callable[[float, int], tuple[EgressReply, float]]
    in_flight: int = 0
    most: int = 0
    sent_at: list[float] = field(default_factory=list)

    async def check_url(self, url: str) -> None: ...

    async def send(self, request: EgressRequest) -> EgressReply:
        self.sent_at.append(self.clock.now())
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            reply, seconds = self.serve(self.clock.now(), self.in_flight)
            await self.clock.sleep(min(seconds, request.timeout_s))
            if seconds > request.timeout_s:
                raise EgressFailure(FailureKind.TIMEOUT, "no reply")
            return reply
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None: ...


def make(
    clock: VirtualClock,
    serve: Callable[[float, int], tuple[EgressReply, float]],
    *,
    rate_limit: float | None = None,
    outages: OutagePatience | None = None,
) -> tuple[Endpoint, TimedEgress]:
    egress = TimedEgress(clock, serve)
    pool = EndpointPool(
        egress,
        timeout_s=600,
        max_retries=3,
        outages=outages,
        clock=clock,
        jitter=random.Random(3).random,
    )
    return pool.endpoint(URL, rate_limit=rate_limit), egress


async def call(endpoint: Endpoint, number: int = 0) -> EndpointAnswer[bytes]:
    request = EndpointRequest({}, b"{}", f"call_{number}", "trace_1")
    return await endpoint.call(request, lambda reply: reply.body, signer=SIGNER)


async def call_many(endpoint: Endpoint, total: int) -> list[Any]:
    calls = (call(endpoint, number) for number in range(total))
    return await asyncio.gather(*calls, return_exceptions=True)


def down(*_: Any) -> tuple[EgressReply, float]:
    raise EgressFailure(FailureKind.UNREACHABLE, "connection refused")
