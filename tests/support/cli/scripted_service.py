"""A server in place of the service that answers as a test says: in part, with garbage, or never."""

import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(slots=True)
class ScriptedService:
    base_url: str
    requests: list[str] = field(default_factory=list)
    """Head and body of each request, in the order in which they came."""


def reply(body: str, *, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """Returns a whole reply, after which the connection closes."""
    sent = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(sent)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + sent


def raw(head: str, body: bytes = b"") -> bytes:
    """Returns a reply with these lines as its head, in the bytes that they may have."""
    lines = head.encode("latin-1").replace(b"\n", b"\r\n")
    return lines + b"\r\n\r\n" + body


def cut(body: str, *, kind: str = "application/json") -> bytes:
    """Returns a reply that promises more than it has."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body) + 999}\r\n\r\n"
    return f"{head}{body}".encode()


@contextmanager
def scripted_service(replies: Sequence[bytes]) -> Iterator[ScriptedService]:
    """Answers one connection with each reply, then closes it. An empty reply stays open, without an
    answer, until the end of the block; so does every connection after the last reply.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = ScriptedService(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        held: list[socket.socket] = []
        thread = threading.Thread(target=_serve, args=(listening, list(replies), found, held))
        thread.start()
        try:
            yield found
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in held:
                connection.close()


def _serve(
    listening: socket.socket,
    replies: list[bytes],
    found: ScriptedService,
    held: list[socket.socket],
) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        found.requests.append(_request(connection))
        sent = replies.pop(0) if replies else b""
        if not sent:
            held.append(connection)
            continue
        with connection, suppress(ConnectionError):  # a client may have read enough
            connection.sendall(sent)


def _request(connection: socket.socket) -> str:
    """Returns a whole request: what is left unread at a close takes the reply away."""
    read = b""
    while chunk := connection.recv(1 << 20):
        read += chunk
        head, ended, body = read.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if ended and len(body) >= (0 if length is None else int(length[1])):
            break
    return read.decode()
