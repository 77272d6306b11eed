import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import Message, Receive, Scope, Send

from app.http.bodies import BodyGuard
from app.http.protocol import Protocol
from tests.support.patience import PATIENCE_S


class Impatient(Protocol):
    header_deadline_s = 0.2


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    assert scope["type"] == "http"
    more = True
    while more:
        message: Message = await receive()
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    guard = BodyGuard(
        _echo, forms=re.compile("/form"), json_deadline_s=0.3, form_deadline_s=0.3, idle_s=3600.0
    )
    config = uvicorn.Config(guard, http=Impatient, port=0, lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers a flag
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def whole(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Returns status and body, read at once: a write after the answer resets the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    body = await (reader.read() if length is None else reader.readexactly(int(length[1])))
    return int(head.split()[1]), body


async def answer(port: int, *pieces: bytes, pause_s: float = 0.1) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    reading = asyncio.create_task(whole(reader))
    try:
        for piece in pieces:
            if reading.done():
                break
            writer.write(piece)
            await asyncio.wait([reading], timeout=pause_s)
        return await asyncio.wait_for(reading, PATIENCE_S)
    finally:
        writer.close()


async def test_headers_that_never_end_are_abandoned() -> None:
    async with served() as port:
        drip = [b"GET / HTTP/1.1\r\n", *(b"A: b\r\n" for _ in range(5))]
        for pieces in (drip, [b""]):
            status, body = await answer(port, *pieces)
            assert status == 408
            assert json.loads(body)["error"]["type"] == "invalid_request_error"


async def test_a_body_that_drips_is_abandoned_at_its_deadline() -> None:
    async with served() as port:
        for path in (b"/v1/x", b"/form"):
            start = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
            status, body = await answer(port, start, *([b" "] * 6))
            assert status == 408
            assert "in time" in json.loads(body)["error"]["message"]


async def test_a_slow_upload_continues_while_bytes_come_and_ends_when_they_stop() -> None:
    start = b"POST /v1/uploads/upload_x/parts HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n"
    start += b"Connection: close\r\n\r\n"
    async with served() as port:
        assert (await answer(port, start, *([b"x"] * 6)))[0] == 200

    async def silent() -> Message:
        await asyncio.sleep(3600)
        raise AssertionError("unreachable")

    seen: list[Exception] = []

    async def reading(_: Scope, receive: Receive, __: Send) -> None:
        try:
            await receive()
        except Exception as error:  # noqa: BLE001 - what comes is what is asked
            seen.append(error)

    async def nowhere(_: Message) -> None:
        raise AssertionError("nothing to send")

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/files",
        "query_string": b"",
        "headers": [],
    }
    await BodyGuard(reading, idle_s=0.05)(scope, silent, nowhere)
    assert [getattr(error, "status_code", None) for error in seen] == [408]


async def test_a_connection_that_is_kept_answers_again() -> None:
    start = b"POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(start + b"{}")
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
            assert await reader.readuntil(b"0\r\n\r\n") == b"4\r\ndone\r\n0\r\n\r\n"
            await asyncio.sleep(0.3)
        writer.close()
