"""Outbound calls: their requests and replies, rules for headers, and checks of addresses.

Checked are the URL, resolved names, and the connected peer. A refusal names its cause and the
setting that permits the call, but no address to which a name resolved.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

from multidict import CIMultiDict

from app.kit.addresses import (
    EndpointUrl,
    IPAddress,
    Lookup,
    NameLookups,
    calls_of,
    host_port,
    is_metadata,
    is_metadata_name,
    is_public,
    port_allowed,
)
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
    check_syntax(headers)
    for name in headers:
        lower = name.lower()
        if lower in _RESERVED_HEADERS or lower.startswith("webhook-"):
            raise EndpointRefused(f"the header '{lower}' is set by the service")


def check_syntax(headers: Mapping[str, str]) -> None:
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
        self.kind, self.was_connected = kind, was_connected


@dataclass(frozen=True, slots=True)
class EgressReply:
    status: int
    headers: Mapping[str, str]
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


_TLS: Final = "https"
_ALLOW_PLAIN_HTTP: Final = "AGENT_RFT_EGRESS__ALLOW_PLAIN_HTTP=true"
_LOCALHOST: Final = "localhost"
_LOOPBACK: Final = (_LOCALHOST, "127.0.0.1", "[::1]")
"""Names of the local host: permission for one of them, at a port, applies to all."""


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    allow_endpoints: frozenset[str] = frozenset()
    """Exact `host:port`, exempt from the checks of address and port; a loopback name means all."""
    allow_plain_http: bool = False

    def __post_init__(self) -> None:
        canonical = frozenset(name for entry in self.allow_endpoints for name in _names(entry))
        object.__setattr__(self, "allow_endpoints", canonical)

    def allows(self, host: str, port: int) -> bool:
        return host_port(host, port) in self.allow_endpoints


def _names(entry: str) -> list[str]:
    host, _, port = entry.rpartition(":")
    name = host_port(host, int(port))
    loopback = [host_port(spelling, int(port)) for spelling in _LOOPBACK]
    return loopback if name in loopback else [name]


def _private(key: str, scheme: str) -> EndpointRefused:
    cure = _cure("it", key, scheme)
    return EndpointRefused(f"{key} is a private address, not a public one; {cure}")


def _metadata(key: str) -> EndpointRefused:
    return EndpointRefused(
        f"{key} is a link-local address or a cloud's metadata service, which no setting allows"
    )


def _cure(what: str, key: str, scheme: str) -> str:
    plain = "" if scheme == _TLS else f" together with {_ALLOW_PLAIN_HTTP}"
    return (
        f"the operator can allow {what} with `agent-rft up --allow-endpoint {key}` "
        f"or AGENT_RFT_EGRESS__ALLOW_ENDPOINTS{plain}"
    )


class EgressGuard:
    def __init__(self, policy: EgressPolicy, lookup: Lookup | None = None) -> None:
        self._policy = policy
        self._lookups = NameLookups(lookup)

    def check(self, endpoint: EndpointUrl) -> None:
        """Checks the URL without resolving its name. Raises `EndpointRefused`."""
        if is_metadata_name(endpoint.host):
            raise _metadata(endpoint.key)
        if endpoint.address is not None:
            self._check_address(endpoint.address, endpoint.key, endpoint.scheme)
        if self._policy.allows(endpoint.host, endpoint.port):
            if endpoint.scheme != _TLS and not self._policy.allow_plain_http:
                raise EndpointRefused(
                    f"the URL must start with https://; the operator can allow http:// to "
                    f"{endpoint.key} with {_ALLOW_PLAIN_HTTP}"
                )
            return
        if endpoint.host == _LOCALHOST or endpoint.host.endswith(f".{_LOCALHOST}"):
            raise _private(endpoint.key, endpoint.scheme)
        if endpoint.scheme != _TLS:
            cure = _cure("http:// to it", endpoint.key, endpoint.scheme)
            raise EndpointRefused(f"the URL must start with https://; {cure}")
        if not port_allowed(endpoint.port):
            raise EndpointRefused(
                f"port {endpoint.port} is not allowed: use 443, or a port from 1024 on that is not "
                "known as that of a database or of another service"
            )

    def check_address(self, address: IPAddress, host: str, port: int) -> None:
        self._check_address(address, host_port(host, port), _TLS)

    def _check_address(self, address: IPAddress, key: str, scheme: str) -> None:
        if is_metadata(address):
            raise _metadata(key)
        if not is_public(address) and key not in self._policy.allow_endpoints:
            raise _private(key, scheme)

    async def resolve(self, host: str, port: int) -> list[str]:
        addresses = await self._lookups.addresses(host, port)
        for text in addresses:
            self.check_address(ipaddress.ip_address(text), host, port)
        if not addresses:
            raise OSError("no addresses")
        return addresses
