"""Replies of endpoints that are too long, too slow or no HTTP."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count

import pytest
from aiohttp import http_parser
from aiohttp.compression_utils import ZLibDecompressor

from app.kit.egress import EgressFailure, EgressRequest, FailureKind
from tests.support.cases import cases
from tests.support.egress.egress_clients import client_for, kind_of, post
from tests.support.endpoints import ReceivedRequest, Reply, Script, Stream, endpoint
from tests.support.patience import PATIENCE_S

MIB = 1_048_576


def raw(*chunks: bytes, pause_s: float = 0.0) -> Callable[[ReceivedRequest], Stream]:
    async def stream() -> Stream:
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(pause_s)

    return lambda _: stream()


def endless(head: bytes, chunk: bytes) -> Callable[[ReceivedRequest], Stream]:
    async def stream() -> Stream:
        yield head
        for _ in count():
            yield chunk

    return lambda _: stream()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(b"\x00" * (64 * MIB))
HOSTILE: dict[str, tuple[Script, FailureKind]] = {
    "endless": (endless(OK + b"\r\n", b"x" * 65536), FailureKind.TOO_LARGE),
    "endless chunks": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"4000\r\n" + b"y" * 0x4000 + b"\r\n"),
        FailureKind.TOO_LARGE,
    ),
    "declared 10 GB": (
        endless(OK + b"Content-Length: 10737418240\r\n\r\n", b"z" * 4096),
        FailureKind.TOO_LARGE,
    ),
    "one byte over": (lambda _: Reply(body=b"x" * (MIB + 1)), FailureKind.TOO_LARGE),
    "gzip bomb": (
        lambda _: Reply(body=BOMB[:MIB], headers={"Content-Encoding": "gzip"}),
        FailureKind.BAD_ENCODING,
    ),
    "brotli": (lambda _: Reply(headers={"Content-Encoding": "br"}), FailureKind.BAD_ENCODING),
    "1 MB header": (raw(OK + b"X: " + b"h" * MIB + b"\r\n\r\n"), FailureKind.BAD_ENCODING),
    "endless header": (endless(OK + b"X: ", b"h" * 65536), FailureKind.BAD_ENCODING),
    "many headers": (
        endless(OK, b"".join(b"X-%d: 1\r\n" % i for i in range(1000))),
        FailureKind.BAD_ENCODING,
    ),
    "endless 100 Continue": (
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        FailureKind.BAD_ENCODING,
    ),
    "endless blank lines": (endless(b"", b"\r\n" * 4096), FailureKind.BAD_ENCODING),
    "endless chunk size": (endless(CHUNKED, b"0" * 65536), FailureKind.BAD_ENCODING),
    "endless chunk extension": (endless(CHUNKED + b"1;a=", b"a" * 65536), FailureKind.BAD_ENCODING),
    "a chunk for each byte": (endless(CHUNKED, b"1\r\n \r\n" * 1000), FailureKind.BAD_ENCODING),
    "endless trailers": (
        endless(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n" * 1000),
        FailureKind.BAD_ENCODING,
    ),
    "not http": (raw(b"SSH-2.0-OpenSSH_9.7\r\n\r\n"), FailureKind.BAD_ENCODING),
    "broken chunk": (
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
        FailureKind.BAD_ENCODING,
    ),
    "two lengths": (
        raw(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        FailureKind.BAD_ENCODING,
    ),
    "cut short": (raw(OK + b"Content-Length: 100\r\n\r\nhalf"), FailureKind.UNREACHABLE),
    "hang up": (raw(), FailureKind.UNREACHABLE),
}


@cases("name", HOSTILE)
async def test_hostile_replies_end_in_their_class(name: str) -> None:
    script, expected = HOSTILE[name]
    async with endpoint(script) as server:
        client = client_for(server)
        assert await kind_of(client, server.url()) is expected
        await client.aclose()
    # The kernel buffers bytes beyond the cap, which were sent but never read.
    assert server.sent_bytes < 16 * MIB


async def test_a_broken_connection_is_no_missing_listener() -> None:
    """A request can make its server fail, and cannot make a listener go away."""

    async def was_connected() -> bool:
        with pytest.raises(EgressFailure) as caught:
            await post(client, server.url())
        return caught.value.was_connected

    async with endpoint(raw()) as server:
        client = client_for(server)
        assert await was_connected()
    assert not await was_connected()
    await client.aclose()


REPLIES: dict[str, tuple[bytes, bytes]] = {
    "after early hints": (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 8
        + OK + b"Content-Length: 2\r\n\r\nok",
        b"ok",
    ),
    "in small chunks": (CHUNKED + b"5\r\nabcde\r\n" * 20_000 + b"0\r\n\r\n", b"abcde" * 20_000),
    "with 60 KiB of headers": (
        OK + b"".join(b"X-%d: %s\r\n" % (i, b"h" * 6_000) for i in range(10))
        + b"Content-Length: 2\r\n\r\nok",
        b"ok",
    ),
    "with a trailer": (CHUNKED + b"2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n", b"ok"),
}  # fmt: skip


@cases("name", REPLIES)
async def test_unusual_replies_are_read(name: str) -> None:
    sent, body = REPLIES[name]
    async with endpoint(raw(sent)) as server:
        client = client_for(server)
        reply = await post(client, server.url())
        await client.aclose()
    assert (reply.status, reply.body) == (200, body)


async def test_a_second_reply_is_no_reply_to_the_next_request() -> None:
    ok = OK + b"Content-Length: 2\r\n\r\nok"
    async with endpoint(raw(ok + ok * 1000, ok * 1000)) as server:
        client = client_for(server)
        for _ in range(2):
            assert (await post(client, server.url())).body == b"ok"
        await client.aclose()
    assert server.connections == 2


NOTED: dict[str, bytes] = {
    "compressed": b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
    "longer than the cap": b"Content-Length: 99999999\r\n\r\n",
    "cut short": b"Content-Length: 100\r\n\r\nhalf",
    "without an end": b"\r\n" + b"x" * 4 * MIB,
}


@cases("name", NOTED)
async def test_a_notice_is_answered_by_its_status_whatever_follows(name: str) -> None:
    async with endpoint(raw(OK + NOTED[name])) as server:
        client = client_for(server)
        reply = await client.send(
            EgressRequest(server.url(), {}, b"{}", PATIENCE_S, reads_body=False)
        )
        assert (reply.status, reply.body) == (200, b"")
        await client.aclose()


async def test_a_drip_ends_at_the_deadline() -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield OK + b"Content-Length: 1000\r\n\r\n"
        for _ in count():
            yield b"x"
            await asyncio.sleep(0.05)

    async with endpoint(lambda _: drip()) as server:
        client = client_for(server)
        started = time.monotonic()
        assert await kind_of(client, server.url(), timeout_s=0.4) is FailureKind.TIMEOUT
        assert time.monotonic() - started > 0.35
        await client.aclose()


async def test_a_reply_of_exactly_the_cap_is_read() -> None:
    async with endpoint(lambda _: Reply(body=b"x" * MIB)) as server:
        client = client_for(server)
        assert len((await post(client, server.url())).body) == MIB
        await client.aclose()


async def test_fifty_hostile_endpoints_end_at_once_and_nothing_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unpacked = list[str]()

    def counted(encoding: str | None = None) -> ZLibDecompressor:
        unpacked.append(encoding or "")
        return ZLibDecompressor(encoding)

    monkeypatch.setattr(http_parser, "ZLibDecompressor", counted)
    scripts = [script for script, _ in HOSTILE.values()]
    numbers = count()

    def in_turn(request: ReceivedRequest) -> Reply | Stream | Awaitable[Reply]:
        return scripts[next(numbers) % len(scripts)](request)

    async with endpoint(in_turn) as server:
        client = client_for(server)
        replies = await asyncio.gather(
            *(post(client, server.url()) for _ in range(50)), return_exceptions=True
        )
        await client.aclose()
    assert all(isinstance(reply, EgressFailure) for reply in replies)
    assert unpacked == []
    assert server.sent_bytes < 50 * 16 * MIB
