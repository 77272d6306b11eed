"""One call to a customer's endpoint: its request, its answer, or the fault in its place."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from app.gateways.egress.egress import EgressReply

Value = TypeVar("Value")
_LONG: Final = 16_384
"""Number of bytes from which a reply is parsed on a thread."""


class FaultKind(StrEnum):
    ERROR = "error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    BAD_REPLY = "bad_reply"
    REFUSED = "refused"
    TOO_LARGE = "too_large"


class EndpointFault(Exception):
    """A call without a usable answer. The message names status and class, never a body, header or
    address.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float = 0,
        was_connected: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after_s = retry_after_s
        self.status = status
        self.was_connected = was_connected
        self.attempts = 0

    def hide(self, hidden: Callable[[str], str]) -> None:
        """Replaces the message by what `hidden` makes of it."""
        self.message = hidden(self.message)
        self.args = (self.message,)


class GaveUp(EndpointFault):
    """An attempt that was not made, because the endpoint was down for too long."""


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """One logical call, with the same bytes and ids on every attempt."""

    headers: Mapping[str, str]
    """The customer's own headers."""
    body: bytes
    call_id: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class EndpointAnswer(Generic[Value]):
    value: Value
    attempts: int
    latency_s: float
    """Latency of the attempt that succeeded."""


Read = Callable[[EgressReply], Value]
"""Parses a reply whose status is not always retried; raises `EndpointFault`."""


async def value_of(reply: EgressReply, read: Read[Value]) -> Value:
    """Parses a reply, a long one on a thread: other calls wait for this loop."""
    if len(reply.body) < _LONG:
        return read(reply)
    return await asyncio.to_thread(read, reply)
