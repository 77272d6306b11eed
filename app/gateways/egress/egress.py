"""Protocol of calls to customers' tools, graders and receivers: operations, replies, failures.

Owns the contract and its in-memory twin. Must not know the purpose of a call, its signature or its
retries.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.domain.errors import AgentRftError, EndpointRefused
from app.gateways.egress.addresses import read_url


class FailureKind(StrEnum):
    UNREACHABLE = "unreachable"
    """No connection, or a connection that broke before the reply was complete."""
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """The guard refused the address; nothing was sent."""
    BAD_ENCODING = "bad_encoding"
    """The reply is compressed or not HTTP."""


class EgressFailure(AgentRftError):
    """A call without a usable reply. The message contains no address, body or header."""

    def __init__(self, kind: FailureKind, message: str, *, was_connected: bool = False) -> None:
        """`was_connected`: the connection broke, as it does if a handler ends its process."""
        super().__init__(message)
        self.kind = kind
        self.was_connected = was_connected


@dataclass(frozen=True, slots=True)
class EgressReply:
    status: int
    headers: Mapping[str, str]
    """Headers with names in lower case; a repeated header has its first value."""
    body: bytes
    latency_s: float


class Egress(Protocol):
    async def check_url(self, url: str) -> None:
        """Raises `EndpointRefused`, with a message for the customer, unless the URL may be
        dialled, or `RateLimited` if too many host names of the project are being looked up.
        """
        ...

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        """Sends one POST and returns the reply, whatever its status. Raises `EgressFailure`."""
        ...

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        """Sends one POST and returns the status. The reply's body is not read, so it cannot cause a
        failure.
        """
        ...

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        """Sends one HEAD, which must have no side effects there. Returns and raises as `post`."""
        ...

    async def delete(
        self, url: str, *, headers: Mapping[str, str], timeout_s: float
    ) -> EgressReply:
        """Sends one DELETE and returns the status, as `notify`."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EgressRequest:
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_s: float


@dataclass(slots=True)
class InMemoryEgress:
    """In-memory twin: a script returns replies or raises, and every request is recorded."""

    script: Callable[[EgressRequest], EgressReply]
    refused: Iterable[str] = ()
    sent: list[EgressRequest] = field(default_factory=list)

    async def check_url(self, url: str) -> None:
        read_url(url)
        if url in self.refused:
            raise EndpointRefused("the URL's host is not a public address")

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        request = EgressRequest(url, dict(headers), body, timeout_s)
        self.sent.append(request)
        if url in self.refused:
            raise EgressFailure(FailureKind.REFUSED, "not dialled: not a public address")
        return self.script(request)

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        return await self.post(url, headers=headers, body=body, timeout_s=timeout_s)

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        return await self.post(url, headers=headers, body=b"", timeout_s=timeout_s)

    async def delete(
        self, url: str, *, headers: Mapping[str, str], timeout_s: float
    ) -> EgressReply:
        return await self.post(url, headers=headers, body=b"", timeout_s=timeout_s)

    async def aclose(self) -> None:
        return None
