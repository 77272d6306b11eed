"""The connector of outbound calls: it dials checked addresses only, and reads replies with limits.

Promises: a name is resolved once per connection, the peer of an open connection is checked again
before a byte is sent, and a request gets one reply, after a few informational ones, with little
around its content. Must not know the purpose of a call.
"""

import ipaddress
import socket
import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from typing_extensions import override

from app.domain.errors import EndpointRefused
from app.gateways.egress.guard import EgressGuard

if TYPE_CHECKING:
    from aiohttp.client import ClientTimeout
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.http_parser import RawResponseMessage
    from aiohttp.streams import StreamReader
    from aiohttp.tracing import Trace

_MAX_INFORMATIONAL: Final = 8
"""Limit of informational replies (1xx) before the reply itself."""
_MAX_FRAMING: Final = 65_536
"""Limit of the bytes of a reply that are not its content. Content permits as many more, so that
a reply in many small chunks can be read.
"""
_PORTION: Final = 8_192
"""Number of bytes that are parsed before the limits are checked. One read of a socket has up to 256
KiB, or 15,000 informational replies, whose parsing takes 0.2 s.
"""
_SWITCHING_PROTOCOLS: Final = 101
_FIRST_FINAL: Final = 200


class ReplyRefused(aiohttp.ClientPayloadError):
    """A reply that is not read further; the message has nothing of it."""


class _LimitedReplies(ResponseHandler):
    """Reads the replies of one connection. aiohttp reads any number of informational replies, and
    any number of bytes that are not content.
    """

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
        if code < _FIRST_FINAL and code != _SWITCHING_PROTOCOLS:
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

    def __init__(
        self,
        guard: EgressGuard,
        *,
        limit: int,
        keepalive_timeout: float,
        ssl: bool | ssl.SSLContext,
    ) -> None:
        super().__init__(
            resolver=_GuardedResolver(guard),
            use_dns_cache=False,
            limit=limit,
            keepalive_timeout=keepalive_timeout,
            ssl=ssl,
        )
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
