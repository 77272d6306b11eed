"""Requests to the fork server: how one is sent over its socket and received.

A request is a header, which comes with four descriptors (the child's status line, and its standard
input, output and error), and a body: JSON with `arguments` and `environment`. Imports nothing that
a forked child should not have.
"""

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct("!I")
"""Length of the body."""
_DESCRIPTORS: Final = 4


class Request(NamedTuple):
    arguments: list[str]
    """`-m MODULE …` or `-c CODE …`."""
    environment: dict[str, str]
    status: socket.socket
    """Gets `pid N` once the child runs, and `exit CODE` after its end, as `subprocess` gives it; or
    `fault REASON` if it cannot start."""
    streams: list[int]


def encode(arguments: Sequence[str], environment: Mapping[str, str]) -> bytes:
    return json.dumps({"arguments": [*arguments], "environment": {**environment}}).encode()


def send(line: socket.socket, body: bytes, descriptors: Sequence[int]) -> None:
    """Sends a request. Raises `ConnectionError` if the server has ended."""
    socket.send_fds(line, [_HEADER.pack(len(body))], descriptors)
    line.sendall(body)


def receive(line: socket.socket) -> Request | None:
    """Returns the next request, or `None` at the end of the socket."""
    header, descriptors, _, _ = socket.recv_fds(line, _HEADER.size, _DESCRIPTORS)
    if len(header) < _HEADER.size or len(descriptors) < _DESCRIPTORS:
        return None
    (size,) = _HEADER.unpack(header)
    body = bytearray()
    while len(body) < size:
        read = line.recv(size - len(body))
        if not read:
            return None
        body += read
    sent = json.loads(body)
    status, *streams = descriptors
    return Request(
        sent["arguments"], sent["environment"], socket.socket(fileno=status), list(streams)
    )
