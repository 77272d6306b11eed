import asyncio
from typing import Any

import pytest

from tests.support.endpoints import Received, Reply, Script, Stream, endpoint
from tests.support.mcp_clients import egress_to, listing_of, spec
from tests.support.mcp_server import mcp_server

MODERN = "2026-07-28"
MIB = 1_048_576


async def _flood(_: Received) -> Stream:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    for _each in range(10):
        yield b"data: " + b"x" * MIB + b"\n\n"


COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def _result(request: Received, result: Any, **reply: Any) -> Reply:
    return Reply(
        json={"jsonrpc": "2.0", "id": request.json["id"], "result": result},
        headers={"Content-Type": "application/json"},
        **reply,
    )


def _paged(request: Received) -> Reply:
    """Lists a page after page for ever."""
    number = int(request.json["params"].get("cursor") or 0) + 1
    tool = {"name": f"tool_{number}", "inputSchema": {"type": "object"}}
    return _result(request, {"tools": [tool], "nextCursor": str(number), **COMPLETE})


def _twice(request: Received) -> Reply:
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    return _result(request, {"tools": [tool, tool], **COMPLETE})


HOSTILE: dict[str, tuple[Any, str]] = {
    "flood": (_flood, "the reply is larger than 1048576 bytes"),
    "not_utf8": (
        lambda _: Reply(body=b'{"result": "\xff"}'), "answered 200 without a JSON-RPC response"
    ),
    "other_id": (
        lambda r: Reply(json={"jsonrpc": "2.0", "id": r.json["id"] + 1, "result": {}}),
        "answered 200 without a JSON-RPC response",
    ),
    "deep": (lambda _: Reply(body=b"[" * 100_000), "answered 200 without a JSON-RPC response"),
    "redirect": (
        lambda _: Reply(307, headers={"Location": "http://169.254.169.254/latest"}),
        "answered 307; redirects are not followed",
    ),
    "no_tools": (
        lambda r: _result(r, {"tools": "none"}),
        "answered with a result that is not of the protocol",
    ),
    "for_ever": (_paged, "lists its tools on more than 50 pages"),
    "twice": (_twice, "lists the tool 'a' twice"),
}  # fmt: skip


def scripted(listing: Any) -> Script:
    """A server of the newest version whose listing is scripted."""

    def answer(request: Received) -> Any:
        if request.json["method"] == "server/discover":
            found = {"supportedVersions": [MODERN], "capabilities": {}}
            return _result(request, {**found, **COMPLETE})
        return listing(request)

    return answer


@pytest.mark.parametrize("kind", list(HOSTILE))
async def test_a_hostile_listing_is_a_fault_in_words(kind: str) -> None:
    listing, words = HOSTILE[kind]
    async with endpoint(scripted(listing)) as server, egress_to(server) as egress:
        found = await listing_of(egress, spec(server.url("/mcp")))
    (fault,) = found.faults
    assert fault.code == "mcp_server_unavailable"
    assert fault.message.endswith(f"could not be listed: {words}.")
    assert {each.path for each in server.received} == {"/mcp"}


async def test_a_listing_that_does_not_end_is_given_up() -> None:
    async def silent(_: Received) -> Stream:
        await asyncio.Event().wait()
        yield b""

    async with endpoint(scripted(silent)) as server, egress_to(server) as egress:
        found = await listing_of(egress, spec(server.url("/mcp")), within_s=0.2)
    assert found.faults[0].message.endswith("could not be listed: it takes longer than 0.2 s.")


async def test_a_private_address_is_not_dialled() -> None:
    with mcp_server() as server:
        async with egress_to() as egress:
            found = await listing_of(egress, spec(server.url))
    assert "not dialled" in found.faults[0].message
    assert not server.heard


@pytest.mark.parametrize(
    ("allowed", "code", "words"),
    [
        (["lookup", "lokup"], "unknown_tool", "has no tool 'lokup'. Its tools: broken, count,"),
        ({"tool_names": ["count"], "read_only": True}, "no_tools", "no tool that 'allowed_tools'"),
    ],
)
async def test_a_choice_that_fits_no_tool_is_named(allowed: Any, code: str, words: str) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            found = await listing_of(egress, spec(server.url, allowed_tools=allowed))
    (fault,) = found.faults
    assert fault.code == code
    assert words in fault.message
    assert found.listing is None
