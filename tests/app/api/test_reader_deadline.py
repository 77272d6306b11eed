import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from app.http.protocol import CHECKS, ReaderDeadline
from tests.support.patience import PATIENCE_S, until

BLOCK = bytes(1 << 20)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.Transport, socket.socket]]:
    """Yields a service's end of a connection, and a client's."""
    ends: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    server = await asyncio.start_server(lambda _, writer: ends.put_nowait(writer), "127.0.0.1", 0)
    async with server:
        with socket.create_connection(server.sockets[0].getsockname()) as client:
            client.setblocking(False)
            writer = await ends.get()
            yield writer.transport, client  # type: ignore[misc]  # a transport of sockets is one
            writer.transport.abort()


async def test_a_client_that_takes_some_bytes_keeps_its_connection() -> None:
    async with connected() as (transport, client):
        deadline = ReaderDeadline(transport, seconds=PATIENCE_S)
        for _ in range(16):
            transport.write(BLOCK)
        deadline.begin()
        for _ in range(3):
            before = deadline.unread_bytes
            assert before > len(BLOCK)
            while deadline.unread_bytes >= before:
                await asyncio.get_running_loop().sock_recv(client, 1 << 16)
            deadline.check()
            for _ in range(CHECKS - 1):
                deadline.check()
            assert not transport.is_closing()
        deadline.end()


async def test_the_time_of_a_client_that_stops_counts_from_the_last_bytes_that_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bytes that its kernel takes at the start give it no second deadline."""
    loop, waited = asyncio.get_running_loop(), 0.0
    timers: list[tuple[float, Callable[[], None]]] = []

    def later(delay: float, check: Callable[[], None]) -> Timer:
        timers.append((delay, check))
        return Timer()

    async with connected() as (transport, _):
        deadline = ReaderDeadline(transport, seconds=PATIENCE_S)
        for _ in range(16):
            transport.write(BLOCK)
        with monkeypatch.context() as patched:
            patched.setattr(loop, "call_later", later)
            deadline.begin()
            unread = deadline.unread_bytes
            while not transport.is_closing():
                await asyncio.sleep(0)  # the transport fills the kernel's buffers
                now = deadline.unread_bytes
                [(delay, check)] = timers
                timers.clear()
                waited, unread = (waited + delay if now == unread else 0.0), now
                check()
    assert waited == pytest.approx(PATIENCE_S)
    assert timers == []


class Timer:
    def cancel(self) -> None:
        pass


async def test_a_client_that_takes_none_loses_its_connection_and_what_was_held_for_it() -> None:
    async with connected() as (transport, client):
        deadline = ReaderDeadline(transport, seconds=PATIENCE_S)
        for _ in range(16):
            transport.write(BLOCK)
        deadline.begin()

        def closed() -> bool:
            deadline.check()  # the kernel may still be moving bytes to the client's side
            return transport.is_closing()

        await until(closed, what="the end of the connection")
        assert transport.get_write_buffer_size() == 0
        received, ended = 0, False
        while not ended:
            try:
                block = await asyncio.get_running_loop().sock_recv(client, 1 << 16)
            except ConnectionResetError:
                block = b""
            received, ended = received + len(block), not block
        assert received < len(BLOCK) * 16
