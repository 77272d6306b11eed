"""Reads files of data sets through the hub's library, whose HTTP client dials checked addresses."""

import io
import ipaddress
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
from typing_extensions import Buffer, override

from app.kit.addresses import read_url
from app.kit.egress import EgressGuard, EgressPolicy
from app.kit.errors import AgentRftError


class DataSetFault(ValueError):
    """A data set that cannot be read. The text is a clause for the author of the request."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_BROKE_OFF: Final = "the hub broke off"


class HubContent(io.RawIOBase):
    def __init__(self, files: Any, path: str, block_bytes: int) -> None:
        super().__init__()
        with as_unavailable(_BROKE_OFF):
            self._file = files.open(path, "rb", block_size=block_bytes)

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        with as_unavailable(_BROKE_OFF):
            return int(self._file.readinto(buffer))

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return int(self._file.seek(offset, whence))

    @override
    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


@contextmanager
def as_unavailable(message: str) -> Iterator[None]:
    """Raises `DataSetFault` for whatever the hub's library raises, and passes on the guard's."""
    try:
        yield
    except (AgentRftError, DataSetFault):
        raise
    # Errors of HTTP are no OSError, and an answer of another shape breaks the library anywhere.
    except (
        *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError),
        *(TypeError, LookupError, AttributeError),
    ) as error:
        raise DataSetFault("hub_unavailable", message) from error


_TIMEOUT_S: Final = 20.0
_MOST_REDIRECTS: Final = 5
MAX_REPLY_BYTES: Final = 8 << 20
_RANGE: Final = re.compile(r"bytes=(\d+)-(\d+)")


def guarded_client(policy: EgressPolicy) -> httpx2.Client:
    return httpx2.Client(
        transport=_GuardedTransport(EgressGuard(policy)),
        follow_redirects=True,
        max_redirects=_MOST_REDIRECTS,
        timeout=_TIMEOUT_S,
        trust_env=False,
    )


class _GuardedTransport(httpx2.HTTPTransport):
    def __init__(self, guard: EgressGuard) -> None:
        super().__init__(trust_env=False)
        self._guard = guard
        pool: Any = self._pool
        pool._network_backend = _GuardedDials(guard, pool._network_backend)  # noqa: SLF001 - no other place names the address to dial

    @override
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = "" if url.port is None else f":{url.port}"
        # Signed addresses of redirects are longer than a customer's URL may be; their path is free.
        self._guard.check(read_url(f"{url.scheme}://{url.raw_host.decode('ascii')}{port}/"))
        # A compressed reply has no limit that holds before it is decompressed.
        request.headers["Accept-Encoding"] = "identity"
        response = super().handle_request(request)
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            response.close()
            raise HubReplyRefused("the hub compressed a reply without being asked")
        found = _RANGE.fullmatch(request.headers.get("Range", ""))
        ranged = found is not None and response.is_success
        most = max(0, int(found[2]) - int(found[1]) + 1) if found and ranged else MAX_REPLY_BYTES
        response.stream = _LimitedStream(response.stream, most)
        return response


class HubReplyRefused(OSError):
    """A reply that is not read further."""


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream, self._most = stream, most

    @override
    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for block in self._stream:
            read += len(block)
            if read > self._most:
                raise HubReplyRefused(f"the hub sent more than {self._most} bytes")
            yield block

    @override
    def close(self) -> None:
        self._stream.close()


class _GuardedDials:
    """Dials the first address of a name whose addresses may all be dialled."""

    def __init__(self, guard: EgressGuard, dials: Any) -> None:
        self._guard, self._dials = guard, dials

    def connect_tcp(self, host: str, port: int, **options: Any) -> Any:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx2.ConnectError(f"{host} does not resolve") from error
        addresses = list(dict.fromkeys(str(answer[4][0]) for answer in found))
        for address in addresses:
            self._guard.check_address(ipaddress.ip_address(address), host, port)
        return self._dials.connect_tcp(addresses[0], port, **options)
