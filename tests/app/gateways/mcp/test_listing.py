import asyncio
from typing import Any

import pytest
from mcp.client.session import ClientSession

from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, Script, Stream, endpoint
from tests.support.mcp.mcp_clients import egress_to, listing_of, spec
from tests.support.mcp.mcp_server import mcp_server

MODERN = "2026-07-28"
MIB = 1_048_576


async def _flood(_: ReceivedRequest) -> Stream:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    for _each in range(10):
        yield b"data: " + b"x" * MIB + b"\n\n"


COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def _result(request: ReceivedRequest, result: Any, **reply: Any) -> Reply:
    content = {"jsonrpc": "2.0", "id": request.json["id"], "result": result}
    return Reply(**{"json": content, "headers": {"Content-Type": "application/json"}, **reply})


def _paged(request: ReceivedRequest) -> Reply:
    """Lists a page after page for ever."""
    number = int(request.json["params"].get("cursor") or 0) + 1
    tool = {"name": f"tool_{number}", "inputSchema": {"type": "object"}}
    return _result(request, {"tools": [tool], "nextCursor": str(number), **COMPLETE})


def _twice(request: ReceivedRequest) -> Reply:
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    return _result(request, {"tools": [tool, tool], **COMPLETE})


def _large(request: ReceivedRequest) -> Reply:
    """Lists pages of almost the size that a reply may have."""
    number = int(request.json["params"].get("cursor") or 0) + 1
    tool = {
        "name": f"tool_{number}",
        "description": "d" * 900_000,
        "inputSchema": {"type": "object"},
    }
    return _result(request, {"tools": [tool], "nextCursor": str(number), **COMPLETE})


def _deep(request: ReceivedRequest) -> Reply:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(300):
        schema = {"type": "object", "properties": {"a": schema}}
    tool = {"name": "a", "inputSchema": schema}
    return _result(request, {"tools": [tool], **COMPLETE})


HOSTILE: dict[str, tuple[Any, str]] = {
    "flood": (_flood, "the reply is larger than 1048576 bytes"),
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
        "answered with a text in quotation marks as `tools`, not a list",
    ),
    "for_ever": (_paged, "lists its tools on more than 50 pages"),
    "large": (_large, "lists its tools in more than 2000000 characters"),
    "deep_schema": (_deep, "answered with JSON of more than 100 levels"),
}  # fmt: skip


def _mere(status: int) -> Script:
    return lambda _: Reply(status, json={"error": "no"})


def _of_version(version: Any, **headers: str) -> Script:
    def answer(request: ReceivedRequest) -> Reply:
        if request.json["method"] != "initialize":
            return Reply(400)
        info = {"name": "x", "version": "1"}
        return _result(
            request,
            {"protocolVersion": version, "capabilities": {}, "serverInfo": info},
            headers={"Content-Type": "application/json", **headers},
        )

    return answer


KNOWN = "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"
SESSION = "a session id that is not 1 to 1024 visible characters"
TOKEN, PATH = (
    "'authorization' and 'headers'",
    "the path of 'server_url', where no MCP server answers",
)
REFUSED: list[tuple[Script, str]] = [
    (_mere(401), f"answered 401: check {TOKEN}"),
    (_mere(404), f"answered 404: check {PATH}"),
    (_mere(500), "answered 500"),
    (_of_version("2020-01-01"), f"answered with a protocol version that is none of {KNOWN}"),
    (_of_version("2025-11-25", **{"Mcp-Session-Id": "sé"}), f"answered with {SESSION}"),
    (_of_version(5), "answered with a result that is not of the protocol"),
]  # fmt: skip


@cases(("script", "words"), REFUSED)
async def test_a_server_that_refuses_the_beginning_is_reported_as_it_answered(
    script: Script, words: str
) -> None:
    async with endpoint(script) as server, egress_to(server) as egress:
        found = await listing_of(egress, spec(server.url("/mcp")))
    (fault,) = found.faults
    assert fault.code == "mcp_server_unavailable"
    assert fault.message.endswith(f"could not be listed: {words}.")


async def test_an_error_of_the_library_is_the_servers_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> None:
        raise LookupError("words of the server")

    monkeypatch.setattr(ClientSession, "adopt", fail)
    async with endpoint(scripted(_twice)) as server, egress_to(server) as egress:
        found = await listing_of(egress, spec(server.url("/mcp")))
    assert found.faults[0].message.endswith("answered with a result that is not of the protocol.")


def scripted(listing: Any) -> Script:
    """A server of the newest version whose listing is scripted."""

    def answer(request: ReceivedRequest) -> Any:
        if request.json["method"] == "server/discover":
            found = {"supportedVersions": [MODERN], "capabilities": {}}
            return _result(request, {**found, **COMPLETE})
        return listing(request)

    return answer


@cases("kind", list(HOSTILE))
async def test_a_hostile_listing_is_a_fault_in_words(kind: str) -> None:
    listing, words = HOSTILE[kind]
    async with endpoint(scripted(listing)) as server, egress_to(server) as egress:
        found = await listing_of(egress, spec(server.url("/mcp")))
    (fault,) = found.faults
    assert fault.code == "mcp_server_unavailable"
    assert fault.message.endswith(f"could not be listed: {words}.")
    assert {each.path for each in server.received} == {"/mcp"}


OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
ODD: dict[str, tuple[dict[str, Any], str | None]] = {
    "output_schema": ({"name": "a", "inputSchema": OBJECT, "outputSchema": "text"}, None),
    "no_schema": ({"name": "a"}, None),
    "nulls": (
        {"name": "a", "description": None, "inputSchema": {**OBJECT, "required": None},
         "annotations": None, "outputSchema": None, "icons": None, "_meta": None},
        None,
    ),
    "schema": (
        {"name": "a", "inputSchema": ["q"]},
        ("The tool 'a' of the MCP server 'records' cannot be offered: the server answered with a "
        "list as `inputSchema`, not an object. Correct it, or leave it out with 'allowed_tools'."),
    ),
    "description": (
        {"name": "a", "description": 5, "inputSchema": OBJECT},
        "the server answered with a number as `description`, not a text.",
    ),
    "name": (
        {"inputSchema": OBJECT},
        ("The tool '(number 1)' of the MCP server 'records' cannot be offered: the server answered "
        "with null as `name`, not a text."),
    ),
    "twice": ({"name": "good", "inputSchema": OBJECT}, "The tool 'good' of"),
}  # fmt: skip


@cases("kind", list(ODD))
async def test_an_odd_part_of_one_tool_loses_no_other(kind: str) -> None:
    odd, words = ODD[kind]
    good = [{"name": name, "inputSchema": OBJECT} for name in ("good", "best")]

    def answer(request: ReceivedRequest) -> Reply:
        return _result(request, {"tools": [odd, *good], "nextCursor": None, "_meta": None})

    async with endpoint(scripted(answer)) as server, egress_to(server) as egress:
        every = await listing_of(egress, spec(server.url("/mcp")))
        chosen = await listing_of(egress, spec(server.url("/mcp"), allowed_tools=["best"]))
    assert chosen.listing is not None, chosen.faults
    assert [tool.name for tool in chosen.listing.tools] == ["best"]
    if words is None:
        assert every.listing is not None, every.faults
        assert [tool.name for tool in every.listing.tools] == ["a", "good", "best"]
        assert every.listing.tools[0].input_schema == OBJECT
    else:
        (fault,) = every.faults
        assert (fault.code, words in fault.message) == ("invalid_tool", True), fault.message


async def test_the_faults_of_long_names_are_few_and_short() -> None:
    named = [f"{'n' * 20_000}{number}" for number in range(30)]
    listing = [{"name": name, "inputSchema": {"type": "object"}} for name in named]
    unknown = [f"zzz{number}" for number in range(128)]

    def answer(request: ReceivedRequest) -> Reply:
        return _result(request, {"tools": listing, **COMPLETE})

    async with endpoint(scripted(answer)) as server, egress_to(server) as egress:
        every = await listing_of(egress, spec(server.url("/mcp")))
        chosen = await listing_of(egress, spec(server.url("/mcp"), allowed_tools=unknown))
    assert {len(each.tool.name) for each in every.offered} == {129}
    assert [fault.code for fault in every.faults] == ["invalid_tool_name"] * 10
    shown = f"'{'n' * 64}…'"
    assert every.faults[0].message.startswith(
        f"The tool {shown} of the MCP server 'records' cannot"
    )
    assert f"The tool {shown} (and 20 more) of" in every.faults[-1].message
    assert [fault.code for fault in chosen.faults] == ["unknown_tool"] * 10
    assert "has no tool 'zzz0'. Its tools: " in chosen.faults[0].message
    assert "has no tool 'zzz9' (and 118 more). Its tools: " in chosen.faults[-1].message
    assert max(len(fault.message) for fault in (*every.faults, *chosen.faults)) < 2_000


async def test_credentials_that_a_server_repeats_are_kept_nowhere() -> None:
    token, quoted, short = "canary-token-1", 'canary"quoted\\key', "abc1234"

    def answer(request: ReceivedRequest) -> Reply:
        sent = " ".join(request.headers[name] for name in ("authorization", "x-key", "x-short"))
        schema = {"type": "object", "properties": {sent: {"description": f"send {sent}"}}}
        tool = {"name": f"a_{token}", "description": f"You sent {sent}.", "inputSchema": schema}
        plain = {"name": "b", "inputSchema": {"type": "object"}}
        cut = {"name": f"{'n' * 120}{token}", "inputSchema": {"type": "object"}}
        return _result(request, {"tools": [tool, plain, cut], **COMPLETE})

    async with endpoint(scripted(answer)) as server, egress_to(server) as egress:
        headers = {"X-Key": quoted, "X-Short": short}
        sent = spec(server.url("/mcp"), authorization=token, headers=headers)
        found = await listing_of(egress, sent)
        chosen = await listing_of(egress, sent.model_copy(update={"allowed_tools": ("b",)}))
    first = found.offered[0].tool
    assert first.description == f"You sent [redacted] [redacted] {short}."
    assert list(first.input_schema["properties"]) == [f"[redacted] [redacted] {short}"]
    assert "'a_[redacted]'" in found.faults[0].message
    assert chosen.listing is not None
    assert [tool.name for tool in chosen.listing.tools] == ["b"]
    assert "canary" not in f"{found} {chosen}"


async def test_a_listing_that_does_not_end_is_abandoned() -> None:
    async def silent(_: ReceivedRequest) -> Stream:
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


@cases(
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
