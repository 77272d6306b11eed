"""Guarded outbound HTTP to customers' tools and graders: the only way out to a URL of theirs.

Owns which endpoints may be dialled, how, and how much of an answer is read. Promises: every address
a name resolves to must be public or nothing is dialled, and only a checked address is; redirects,
proxies, cookies, decompression and oversized replies do not happen; a call ends by its deadline.
Must not know what is called, who signs it or whether to try again.
"""

import asyncio
import re
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from app.domain.errors import AgentRftError, EndpointRefused
from app.gateways.addresses import EndpointUrl, read_url
from app.gateways.egress_guard import EgressGuard, EgressPolicy, GuardedConnector, Lookup
from app.settings import EgressSettings

__all__ = [
    "Egress",
    "EgressClient",
    "EgressFailure",
    "EgressPolicy",
    "EgressReply",
    "FailureKind",
    "InMemoryEgress",
    "SentRequest",
    "check_headers",
]

MAX_CONNECTIONS: Final = 1024
MAX_BODY_BYTES: Final = 1_048_576
_CONNECT_TIMEOUT_S: Final = 10.0
# Below the 5 s after which uvicorn and many proxies close an idle connection: a POST sent into a
# closing connection fails and cannot be repeated safely by the transport.
_KEEP_ALIVE_S: Final = 4.0
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


class FailureKind(StrEnum):
    UNREACHABLE = "unreachable"
    """No connection, or it broke before the reply was whole."""
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """By the guard; nothing was sent."""
    BAD_ENCODING = "bad_encoding"
    """The reply is compressed or not HTTP."""


class EgressFailure(AgentRftError):
    """A call without a usable reply. The text holds no address, body or header."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class EgressReply:
    status: int
    headers: Mapping[str, str]
    """Names in lower case; of a repeated header the first."""
    body: bytes
    latency_s: float


class Egress(Protocol):
    async def check_url(self, url: str) -> None:
        """Raise `EndpointRefused`, with a text for the customer, unless the URL may be dialled."""
        ...

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        """POST once. Raises `EgressFailure`; any status is a reply."""
        ...

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        """POST once for its status: the reply's body is not read, so nothing in it is a failure."""
        ...

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        """HEAD once, which runs nothing at the other end. Raises and answers as `post`."""
        ...

    async def aclose(self) -> None: ...


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `EndpointRefused` for a header a customer may not set, or could not be sent safely."""
    for name in headers:
        lower = name.lower()
        if lower in _RESERVED_HEADERS or lower.startswith("webhook-"):
            raise EndpointRefused(f"the header '{lower}' is set by the service")
    _check_syntax(headers)


def _check_syntax(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise EndpointRefused("a header's name is not a token of letters, digits and dashes")
        if _HEADER_VALUE.fullmatch(value) is None or len(value) > _MAX_HEADER_VALUE:
            raise EndpointRefused(
                f"the value of the header '{name.lower()}' holds a control character or is longer "
                f"than {_MAX_HEADER_VALUE} characters"
            )


def _all_headers(headers: Mapping[str, str]) -> CIMultiDict[str]:
    every = CIMultiDict(headers)
    every["Accept-Encoding"] = "identity"
    every["Content-Type"] = "application/json"
    every.setdefault("User-Agent", _USER_AGENT)
    return every


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    headers: Mapping[str, str]
    body: bytes | None
    status_only: bool = False
    """Whatever follows the status is neither read nor judged."""


class EgressClient:
    """One per process and event loop. Connections are pooled per endpoint; nothing else is shared
    between calls, in particular no cookies.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        max_body_bytes: int = MAX_BODY_BYTES,
        lookup: Lookup | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`lookup` and `ssl_context` replace name resolution and trust roots, e.g. a private CA."""
        self._guard = EgressGuard(policy, lookup)
        self._max_body_bytes = max_body_bytes
        self._ssl_context = ssl_context
        self._opened: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    async def check_url(self, url: str) -> None:
        endpoint = read_url(url)
        self._guard.check(endpoint)
        if endpoint.address is None:
            try:
                await self._guard.resolve(endpoint.host, endpoint.port)
            except OSError:
                raise EndpointRefused("the URL's host name does not resolve") from None

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        request = _Request("POST", headers, body)
        return await self._guarded(url, request, timeout_s=timeout_s)

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        request = _Request("POST", headers, body, status_only=True)
        return await self._guarded(url, request, timeout_s=timeout_s)

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        request = _Request("HEAD", headers, None)
        return await self._guarded(url, request, timeout_s=timeout_s)

    async def _guarded(self, url: str, request: _Request, *, timeout_s: float) -> EgressReply:
        try:
            endpoint = read_url(url)
            self._guard.check(endpoint)
            _check_syntax(request.headers)
            async with asyncio.timeout(timeout_s):
                return await self._send(endpoint, request)
        except EndpointRefused as error:
            raise EgressFailure(FailureKind.REFUSED, f"not dialled: {error}") from None
        except aiohttp.ConnectionTimeoutError:
            raise EgressFailure(FailureKind.UNREACHABLE, "no connection in time") from None
        except TimeoutError:
            raise EgressFailure(FailureKind.TIMEOUT, f"no reply within {timeout_s:g} s") from None
        except aiohttp.ClientResponseError:
            raise EgressFailure(FailureKind.BAD_ENCODING, "the reply is not valid HTTP") from None
        except (aiohttp.ClientError, OSError) as error:
            raise EgressFailure(FailureKind.UNREACHABLE, _describe(error)) from None

    async def _send(self, endpoint: EndpointUrl, request: _Request) -> EgressReply:
        started = time.perf_counter()
        async with self._session().request(
            request.method,
            URL(endpoint.url, encoded=True),
            data=request.body,
            headers=_all_headers(request.headers),
            allow_redirects=False,
        ) as response:
            content = b"" if request.status_only else await self._content(response)
            seen: dict[str, str] = {}
            for name, value in response.headers.items():
                seen.setdefault(name.lower(), value)
            return EgressReply(response.status, seen, content, time.perf_counter() - started)

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            response.close()
            raise EgressFailure(FailureKind.BAD_ENCODING, "the reply is compressed")
        return b"" if response.method == "HEAD" else await self._read(response)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body, and never more of it than the cap: the connection is dropped instead."""
        chunks: list[bytes] = []
        size = response.content_length or 0
        if size <= self._max_body_bytes:
            size = 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > self._max_body_bytes:
                    break
                chunks.append(chunk)
        if size > self._max_body_bytes:
            response.close()
            raise EgressFailure(
                FailureKind.TOO_LARGE, f"the reply is larger than {self._max_body_bytes} bytes"
            )
        return b"".join(chunks)

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=GuardedConnector(
                    self._guard,
                    limit=MAX_CONNECTIONS,
                    keepalive_timeout=_KEEP_ALIVE_S,
                    ssl=self._ssl_context or True,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S),
                auto_decompress=False,
                trust_env=False,
                max_line_size=8190,
                max_field_size=8190,
                max_headers=128,
            )
        return self._opened


def _describe(error: Exception) -> str:
    """What went wrong with a connection, in words that name no address."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "the host name does not resolve"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return "the TLS certificate or handshake was not accepted"
        case aiohttp.ClientConnectorError():
            return "connection refused"
        case _:
            return "the connection broke"


def build_egress(settings: EgressSettings) -> EgressClient:
    """The client every process uses, from its configuration."""
    policy = EgressPolicy(
        allow_endpoints=frozenset(settings.allow_endpoints),
        allow_plain_http=settings.allow_plain_http,
    )
    return EgressClient(policy, max_body_bytes=settings.max_body_bytes)


@dataclass(frozen=True, slots=True)
class SentRequest:
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_s: float


@dataclass(slots=True)
class InMemoryEgress:
    """Twin: a script answers or raises, and every request is kept."""

    script: Callable[[SentRequest], EgressReply]
    refused: Iterable[str] = ()
    sent: list[SentRequest] = field(default_factory=list)

    async def check_url(self, url: str) -> None:
        read_url(url)
        if url in self.refused:
            raise EndpointRefused("the URL's host is not a public address")

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        request = SentRequest(url, dict(headers), body, timeout_s)
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

    async def aclose(self) -> None:
        return None
