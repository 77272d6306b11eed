"""Headers of outbound calls: rules for customers' headers, and the headers of the service."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

from multidict import CIMultiDict

from app.kit.addresses import calls_of
from app.kit.errors import AgentRftError, EndpointRefused

_MAX_HEADER_VALUE: Final = 4096
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_RESERVED_HEADERS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-attempt",
        "x-rollout-id",
    }
)
_USER_AGENT: Final = "agent-rft/1"


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises `EndpointRefused` for a header that is reserved or cannot be sent safely."""
    check_syntax(headers)
    for name in headers:
        lower = name.lower()
        if lower in _RESERVED_HEADERS or lower.startswith("webhook-"):
            raise EndpointRefused(f"the header '{lower}' is set by the service")


def check_syntax(headers: Mapping[str, str]) -> None:
    """Raises `EndpointRefused` for a header that cannot be sent safely."""
    for name, value in headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise EndpointRefused("a header's name is not a token of letters, digits and dashes")
        if _HEADER_VALUE.fullmatch(value) is None or len(value) > _MAX_HEADER_VALUE:
            raise EndpointRefused(
                f"the value of the header '{name.lower()}' contains a control character or is "
                f"longer than {_MAX_HEADER_VALUE} characters"
            )


def all_headers(headers: Mapping[str, str]) -> CIMultiDict[str]:
    complete = CIMultiDict(headers)
    complete["Accept-Encoding"] = "identity"
    complete["Content-Type"] = "application/json"
    complete.setdefault("User-Agent", _USER_AGENT)
    return complete


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


@dataclass(frozen=True, slots=True)
class EgressRequest:
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_s: float
    method: Literal["POST", "HEAD", "DELETE"] = "POST"
    reads_body: bool = True
    """If false, the body of the reply is not read, so it cannot cause a failure."""


class Egress(Protocol):
    async def check_url(self, url: str) -> None:
        """Raises `EndpointRefused`, with a message for the customer, unless the URL may be
        dialled, or `RateLimited` if too many host names of the project are being looked up.
        """
        ...

    async def send(self, request: EgressRequest) -> EgressReply:
        """Sends one request and returns the reply, whatever its status. Raises `EgressFailure`."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ProjectEgress:
    inner: Egress
    organization_id: str
    project_id: str

    async def check_url(self, url: str) -> None:
        with calls_of(self.organization_id, self.project_id):
            await self.inner.check_url(url)

    async def send(self, request: EgressRequest) -> EgressReply:
        with calls_of(self.organization_id, self.project_id):
            return await self.inner.send(request)

    async def aclose(self) -> None:
        """Does nothing: projects share the connections."""
