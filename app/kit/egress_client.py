"""The client of outbound calls: it dials checked addresses only, and limits replies."""

import asyncio
import ipaddress
import socket
import ssl
import time
from contextlib import nullcontext
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from typing_extensions import override
from yarl import URL

from app.kit.addresses import (
    NOT_LOOKED_UP,
    EndpointUrl,
    Lookup,
    LookupsBusy,
    LookupTimeout,
    current_owner,
    read_url,
)
from app.kit.egress import (
    EgressFailure,
    EgressGuard,
    EgressPolicy,
    EgressReply,
    EgressRequest,
    FailureKind,
    all_headers,
    check_syntax,
)
from app.kit.errors import EndpointRefused, RateLimited
from app.kit.slots import SharedSlots
from app.settings import EgressSettings

if TYPE_CHECKING:
    from aiohttp.client import ClientTimeout
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.http_parser import RawResponseMessage
    from aiohttp.streams import StreamReader
    from aiohttp.tracing import Trace


_MAX_INFORMATIONAL: Final = 8
_MAX_FRAMING: Final = 65_536
"""Limit of a reply's bytes that are not content, which permits as many more."""
_PORTION: Final = 8_192
"""Bytes that are parsed between two checks: a read may have 15,000 replies, parsed in 0.2 s."""


class ReplyRefused(aiohttp.ClientPayloadError):
    """A reply that is not read further; the message has nothing of it."""


class _LimitedReplies(ResponseHandler):
    """Limits informational replies and bytes that are not content; aiohttp reads any number."""

    _informational = 0
    _received = 0
    _answered = False

    @override
    def set_response_params(self, **params: Any) -> None:
        self._informational, self._received, self._answered = 0, 0, False
        super().set_response_params(**params)

    @override
    def data_received(self, data: bytes) -> None:
        if len(data) <= _PORTION:
            self._parse(data)
            return
        for start in range(0, len(data), _PORTION):
            if self.transport is None or self.transport.is_closing():
                return
            self._parse(data[start : start + _PORTION])

    def _parse(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        content = 0 if self._payload is None else self._payload.total_bytes
        if self._received - content > _MAX_FRAMING + content:
            self._refuse("the reply has more framing than content")

    @override
    def feed_data(self, data: "tuple[RawResponseMessage, StreamReader]", size: int = 0) -> None:
        code = data[0].code
        if code < HTTPStatus.OK and code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._informational += 1
            if self._informational > _MAX_INFORMATIONAL:
                self._refuse(f"more than {_MAX_INFORMATIONAL} informational replies")
        elif self._answered:
            self._refuse("more than one reply to a request")
        else:
            self._answered = True
            super().feed_data(data, size)

    def _refuse(self, reason: str) -> None:
        refusal = ReplyRefused(reason)
        self.set_exception(refusal)
        if self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(refusal)
        if self.transport is not None:
            self.transport.abort()


class _GuardedResolver(AbstractResolver):
    def __init__(self, guard: EgressGuard) -> None:
        self._guard = guard

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=text,
                port=port,
                family=socket.AF_INET6 if ":" in text else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for text in await self._guard.resolve(host, port)
        ]

    @override
    async def close(self) -> None:
        return None


class GuardedConnector(aiohttp.TCPConnector):
    """Dials the addresses that the guard resolved. Host header and TLS name stay the URL's own."""

    def __init__(self, guard: EgressGuard, **options: Any) -> None:
        super().__init__(resolver=_GuardedResolver(guard), use_dns_cache=False, **options)
        self._guard = guard
        limited: type[ResponseHandler] = _LimitedReplies
        self._factory = partial(limited, loop=self._loop)

    @override
    async def _create_connection(
        self, req: "ClientRequest", traces: list["Trace"], timeout: "ClientTimeout"
    ) -> ResponseHandler:
        protocol = await super()._create_connection(req, traces, timeout)
        try:
            self._check_peer(protocol, req)
        except (EndpointRefused, OSError):
            protocol.close()
            raise
        return protocol

    def _check_peer(self, protocol: ResponseHandler, req: "ClientRequest") -> None:
        transport = protocol.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        if peer is None:
            raise OSError("the connection closed immediately")
        host, port = req.url.raw_host or "", req.url.port or 0
        self._guard.check_address(ipaddress.ip_address(peer[0]), host, port)


MAX_CONNECTIONS: Final = 1024
OF_PROJECT: Final = 64
_OF_ORGANIZATION: Final = 128
MAX_BODY_BYTES: Final = 1_048_576
_CONNECT_TIMEOUT_S: Final = 10.0
_ENCODINGS: Final = frozenset({"br", "compress", "deflate", "gzip", "x-gzip", "zstd"})
_RETRY_LOOKUP_S: Final = 10.0
_NOTED_WAIT_S: Final = 0.1
# Below the 5 s after which uvicorn and many proxies close an idle connection: a POST sent into a
# closing connection fails and cannot be repeated safely by the transport.
_KEEP_ALIVE_S: Final = 4.0


class EgressClient:
    """HTTP client, one per process and event loop. Calls share connections, and no cookies."""

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        max_body_bytes: int = MAX_BODY_BYTES,
        lookup: Lookup | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`lookup` replaces name resolution; `ssl_context` the trust roots, by a private CA."""
        self._guard = EgressGuard(policy, lookup)
        self._max_body_bytes, self._ssl_context = max_body_bytes, ssl_context
        self._opened: aiohttp.ClientSession | None = None
        self._slots = SharedSlots(
            MAX_CONNECTIONS, of_organization=_OF_ORGANIZATION, of_project=OF_PROJECT
        )

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
            except LookupsBusy:
                raise RateLimited(
                    f"The URL's {NOT_LOOKED_UP}. Try again in a while.",
                    retry_after_s=_RETRY_LOOKUP_S,
                ) from None
            except LookupTimeout as error:
                raise EndpointRefused(str(error)) from None
            except OSError:
                raise EndpointRefused("the URL's host name does not resolve") from None

    async def send(self, request: EgressRequest) -> EgressReply:
        timeout_s = request.timeout_s
        called_at, sent_at = time.monotonic(), None
        try:
            endpoint = read_url(request.url)
            self._guard.check(endpoint)
            check_syntax(request.headers)
            owner = current_owner()  # a process of one project has all connections
            slot = self._slots.taken(*owner) if any(owner) else nullcontext()
            async with asyncio.timeout(timeout_s), slot:
                sent_at = time.monotonic()
                return await self._send(endpoint, request)
        except EndpointRefused as error:
            raise EgressFailure(FailureKind.REFUSED, f"not dialled: {error}") from None
        except aiohttp.ConnectionTimeoutError:
            raise EgressFailure(FailureKind.UNREACHABLE, "no connection in time") from None
        except TimeoutError:
            waited_s = None if sent_at is None else sent_at - called_at
            raise EgressFailure(FailureKind.TIMEOUT, _overdue(timeout_s, waited_s)) from None
        except ReplyRefused as error:
            raise EgressFailure(FailureKind.BAD_ENCODING, str(error)) from None
        except aiohttp.ClientResponseError:
            raise EgressFailure(FailureKind.BAD_ENCODING, "the reply is not valid HTTP") from None
        except (aiohttp.ClientError, OSError) as error:
            before = aiohttp.ClientConnectorError | aiohttp.ClientSSLError
            raise EgressFailure(
                FailureKind.UNREACHABLE,
                _describe(error),
                was_connected=not isinstance(error, before),
            ) from None

    async def _send(self, endpoint: EndpointUrl, request: EgressRequest) -> EgressReply:
        started = time.perf_counter()
        async with self._session().request(
            request.method,
            URL(endpoint.url, encoded=True),
            data=request.body or None,
            headers=all_headers(request.headers),
            allow_redirects=False,
        ) as response:
            content = await self._content(response) if request.reads_body else b""
            sent = {name.lower(): value for name, value in reversed(list(response.headers.items()))}
            return EgressReply(response.status, sent, content, time.perf_counter() - started)

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            response.close()
            named = f" (Content-Encoding: {encoding})" if encoding in _ENCODINGS else ""
            words = f"answered {response.status} with a compressed body{named}; send it as it is"
            raise EgressFailure(FailureKind.BAD_ENCODING, words)
        if response.method == "HEAD":
            return b""
        body, size, most = bytearray(), response.content_length or 0, self._max_body_bytes
        while size <= most and (chunk := await response.content.readany()):
            body += chunk
            size = len(body)
        if size > most:
            response.close()
            raise EgressFailure(FailureKind.TOO_LARGE, f"the reply is larger than {most} bytes")
        return bytes(body)

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            connector = GuardedConnector(
                self._guard,
                limit=MAX_CONNECTIONS,
                keepalive_timeout=_KEEP_ALIVE_S,
                ssl=self._ssl_context or True,
            )
            self._opened = aiohttp.ClientSession(
                connector=connector,
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
    match error:
        case aiohttp.ClientConnectorDNSError(os_error=LookupsBusy() | LookupTimeout() as fault):
            return str(fault)
        case aiohttp.ClientConnectorDNSError():
            return "the host name does not resolve"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return "the TLS certificate or handshake was not accepted"
        case aiohttp.ClientConnectorError():
            return "connection refused"
        case _:
            return "the connection broke"


def _overdue(timeout_s: float, waited_s: float | None) -> str:
    """`waited_s`: the call's wait for a connection; `None` if it got none."""
    if waited_s is None:
        return (
            f"not sent within {timeout_s:g} s: other calls of this project or its organization had "
            "every connection"
        )
    if waited_s < _NOTED_WAIT_S:
        return f"no reply within {timeout_s:g} s"
    return f"no reply within {timeout_s:g} s, of which it waited {waited_s:.1f} s for a connection"


def build_egress(settings: EgressSettings) -> EgressClient:
    policy = EgressPolicy(
        allow_endpoints=frozenset(settings.allow_endpoints),
        allow_plain_http=settings.allow_plain_http,
    )
    return EgressClient(policy, max_body_bytes=settings.max_body_bytes)
