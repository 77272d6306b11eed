import asyncio
import json
from typing import Any

import pytest

from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.trajectory import FailureClass
from app.tools.tools import ToolOutcome
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.mcp.mcp_clients import SIGNER, egress_to, frozen, listing_of, spec, tools_of
from tests.support.mcp.mcp_server import PICTURE, mcp_server
from tests.support.patience import until
from tests.support.rollout.rollouts import KEY, call_once, pool, row
from tests.support.runs.journals import as_stored
from workers.environments.tool_environment import McpTools
from workers.journal import InMemoryJournal
from workers.rollout.environment import CallPosition, ToolFailure

POSITION = CallPosition(KEY, 0, 0)
MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
MIB = 1_048_576
PICTURED = f"""A map:
[image of type image/png, {len(PICTURE)} bytes: only text can be read]
[resource atlas: file:///atlas]
[resource file:///b of type a/b: only text can be read]"""


async def call(
    tools: McpTools, name: str, journal: InMemoryJournal | None = None, /, **arguments: Any
) -> ToolOutcome:
    """Runs a call of the first turn, as an episode does: the row offers what the server lists."""
    offered = [
        tool.function for server in tools.servers for tool in (server.listing or nothing()).tools
    ]
    called = ParsedToolCall(name, json.dumps(arguments))
    outcome = await call_once(tools, called, offered, journal=journal or InMemoryJournal())
    await tools.release(KEY)
    return outcome


def nothing() -> Any:
    raise AssertionError("the server has no listing")


@cases("streams", [False, True])
@cases("handshake_only", [False, True])
async def test_calls_reach_the_tool_with_the_ids_of_their_rollout(
    handshake_only: bool, streams: bool
) -> None:
    with mcp_server(handshake_only=handshake_only, streams=streams) as server:
        async with egress_to(server) as egress:
            sent = spec(server.url, headers={"X-Team": "red"}, authorization="t0ken")
            tools = await tools_of(egress, sent)
            outcome = await call(tools, "lookup", q="gold")
    assert (outcome.output, outcome.error, outcome.attempts) == ("blue", None, 1)
    (heard,) = server.calls()
    assert heard.message["params"]["arguments"] == {"q": "gold"}
    meta = heard.message["params"]["_meta"]
    assert meta["agent-rft/rollout-id"] == heard.headers["x-rollout-id"] == KEY.trace_id
    assert meta["agent-rft/call-id"] == heard.headers["idempotency-key"] == POSITION.call_id
    assert heard.headers["mcp-protocol-version"] == (HANDSHAKE if handshake_only else MODERN)
    for request in server.heard:
        assert request.headers["x-team"] == "red"
        assert request.headers["authorization"] == "Bearer t0ken"


async def test_an_argument_is_repeated_in_the_header_that_its_schema_names() -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            outcome = await call(await tools_of(egress, spec(server.url)), "regional", region="eu")
    assert outcome.error is None
    assert [heard.headers["mcp-param-region"] for heard in server.calls()] == ["eu"]


@cases("region", ["v" * 5_000, "é" * 1_600])
async def test_an_argument_that_is_too_long_for_its_header_is_the_models_mistake(
    region: str,
) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            outcome = await call(tools, "regional", region=region)
    text = "Error: the arguments that are repeated in headers are longer than 4096 characters."
    assert (outcome.output, outcome.error) == (text, "too_large")
    assert not server.calls()


@cases("handshake_only", [False, True])
async def test_a_tool_that_a_server_no_longer_has_is_not_the_models_mistake(
    handshake_only: bool,
) -> None:
    with mcp_server(handshake_only=handshake_only) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            listings = len([heard for heard in server.heard if heard.called == "tools/list"])
            mistake = await call(tools, "broken", q="x")
            server.gone.add("lookup")
            with pytest.raises(ToolFailure) as raised:
                await call(tools, "lookup", q="gold")
            await tools.release(KEY)
    assert mistake.error == "tool_reported"
    failure = raised.value.failure
    assert (failure.failure_class, failure.source) == (FailureClass.TOOL_ERROR, "lookup")
    assert failure.message == "no longer has this tool, which it listed when the job began"
    # Each of the two errors speaks of its tool, so the server is asked.
    assert len([h for h in server.heard if h.called == "tools/list"]) == listings + 2


async def test_a_declared_rate_is_that_of_the_endpoint() -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            endpoints = pool(egress)
            McpTools(endpoints, SIGNER, [await frozen(egress, spec(server.url, rate_limit=5))])
            assert endpoints.endpoint(server.url)._rate == 5


async def test_a_rollout_that_is_cancelled_in_a_call_ends_its_session() -> None:
    with mcp_server(handshake_only=True) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            waiting = asyncio.create_task(call(tools, "stuck"))
            await until(lambda: bool(server.calls("stuck")))
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await tools.release(KEY)
    session = server.calls("stuck")[0].headers["mcp-session-id"]
    ended = [h.headers["mcp-session-id"] for h in server.heard if h.verb == "DELETE"]
    assert session in ended


async def test_a_server_with_sessions_has_one_for_each_rollout_until_its_end() -> None:
    with mcp_server(handshake_only=True) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            for key in (KEY, KEY.group.samples(3)[2]):
                for number in range(2):
                    position = CallPosition(key, 0, number)
                    await tools.call(position, "lookup", '{"q": "gold"}', journal=InMemoryJournal())
            for key in (KEY, KEY.group.samples(3)[2]):
                await tools.release(key)
    sessions = [heard.headers["mcp-session-id"] for heard in server.calls()]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    ended = [h.headers["mcp-session-id"] for h in server.heard if h.verb == "DELETE"]
    assert set(ended) > {sessions[0], sessions[2]}
    assert len(ended) == 3


@cases(
    ("name", "arguments", "text", "error"),
    [
        ("lookup", {"q": "iron"}, "no record of iron", "tool_reported"),
        ("count", {"q": "abcd"}, '{\n  "letters": 4\n}', None),
        ("broken", {"q": "x"}, "Error executing tool broken", "tool_reported"),
        ("structured", {"q": "abc"}, '{"letters": 3}', None),
        ("large", {"characters": 10 * MIB}, "Error: 413 the tool's reply is larger than 1 MB.",
         "too_large"),
        ("lookup", {"q": "x" * MIB}, "Error: 413 the arguments are larger than 1 MB.", "too_large"),
        ("picture", {}, PICTURED, None),
    ],
)  # fmt: skip
async def test_results_become_texts(
    name: str, arguments: dict[str, Any], text: str, error: str | None
) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            outcome = await call(await tools_of(egress, spec(server.url)), name, **arguments)
    assert (outcome.output, outcome.error) == (text, error)


BLOCKS: list[Any] = [
    {"type": "text", "text": "one", "annotations": 7},
    {"type": "video", "url": "x"},
    {"type": "text", "text": None},
    5,
    {"type": "resource", "resource": {"text": "two"}},
    {"type": "image", "data": None},
]
DEEP: Any = []
for _ in range(150):
    DEEP = [DEEP]


@cases(
    ("result", "text", "error"),
    [
        ({"structuredContent": {"answer": 42}}, '{"answer": 42}', None),
        ({"content": None, "structuredContent": [1], "isError": None}, "[1]", None),
        ({"content": [], "structuredContent": None}, "", None),
        ({"isError": True}, "Error: the tool failed without a message.", "tool_reported"),
        (
            {"content": BLOCKS, "_meta": 5},
            (
                "one\n[video: only text can be read]\n[text: only text can be read]\n"
                "[a number: only text can be read]\ntwo\n[image: only text can be read]"
            ),
            None,
        ),
        ({"content": "42"}, "answered with a text in quotation marks as `content`, not a list", ""),
        ({"isError": "no"}, "as `isError`, not true or false", ""),
        ({"resultType": "input_required"}, "answered with a result that is not complete", ""),
        ({"structuredContent": DEEP}, "answered with JSON of more than 100 levels", ""),
    ],
)
async def test_a_result_is_read_as_far_as_it_is_used(
    result: dict[str, Any], text: str, error: str | None
) -> None:
    """An empty `error` stands for a failure of the tool with the text."""

    def answer(request: ReceivedRequest) -> Reply:
        sent = {
            "server/discover": {"supportedVersions": [MODERN]},
            "tools/list": {"tools": [{"name": "find"}]},
            "tools/call": result,
        }[request.json["method"]]
        return Reply(json={"jsonrpc": "2.0", "id": request.json["id"], "result": sent})

    async with endpoint(answer) as server, egress_to(server) as egress:
        tools = await tools_of(egress, spec(server.url("/mcp")))
        try:
            outcome = await call(tools, "find")
        except ToolFailure as raised:
            await tools.release(KEY)
            failure = raised.failure
            assert (failure.failure_class, failure.source) == (FailureClass.TOOL_BAD_REPLY, "find")
            assert (text in failure.message, error) == (True, ""), failure.message
        else:
            assert (outcome.output, outcome.error) == (text, error)


@cases(
    ("arguments", "heard"),
    [
        ('{"q": "a\\ud800\\u0000"}', {"q": "a\ufffd\x00"}),
        ('{"q": NaN}', None),
        ('{"q": ' + "[" * 300 + "]" * 300 + "}", None),
    ],
)
async def test_arguments_that_cannot_be_sent_are_the_models_mistake(
    arguments: str, heard: dict[str, Any] | None
) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            journal = InMemoryJournal()
            outcome = await tools.call(POSITION, "lookup", arguments, journal=journal)
            await tools.release(KEY)
    sent = [each.message["params"]["arguments"] for each in server.calls()]
    if heard is None:
        assert outcome.error == "bad_arguments"
        assert not sent
    else:
        assert sent == [heard]


async def test_a_replayed_call_sends_no_request() -> None:
    journal = InMemoryJournal()
    with mcp_server(handshake_only=True) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            first = await call(tools, "lookup", journal, q="gold")
            before = len(server.heard)
            server.records["gold"] = "green"
            again = await call(tools, "lookup", as_stored(journal), q="gold")
            other = await call(tools, "lookup", as_stored(journal), q="green")
    assert again == first
    assert first.output == "blue"
    assert other.output == "no record of green"
    assert len(server.calls()) == 2
    assert server.heard[before].called == "initialize"


@cases(
    ("statuses", "attempts", "failure"),
    [
        ([503, 429], 3, None),
        ([500] * 4, 4, FailureClass.TOOL_ERROR),
        ([401], 1, FailureClass.TOOL_ERROR),
        ([404], 1, FailureClass.TOOL_ERROR),
    ],
)
async def test_statuses_have_the_classes_of_tools(
    statuses: list[int], attempts: int, failure: FailureClass | None
) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url))
            server.statuses[:] = statuses
            if failure is None:
                assert (await call(tools, "lookup", q="gold")).attempts == attempts
            else:
                with pytest.raises(ToolFailure) as raised:
                    await call(tools, "lookup", q="gold")
                assert raised.value.failure.failure_class is failure
                assert raised.value.failure.message.split(":")[0] == f"answered {statuses[0]}"
                assert raised.value.failure.source == "lookup"
    assert len(server.calls()) == attempts
    assert len({each.headers["idempotency-key"] for each in server.calls()}) == 1


async def test_a_slow_server_is_a_timeout_and_a_stopped_one_is_unreachable() -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url), timeout_s=0.3)
            with pytest.raises(ToolFailure) as slow:
                await call(tools, "stuck")
    assert slow.value.failure.failure_class is FailureClass.TOOL_TIMEOUT
    async with egress_to(server) as egress:
        down = McpTools(pool(egress), SIGNER, tools.servers)
        with pytest.raises(ToolFailure) as stopped:
            await call(down, "lookup", q="gold")
        found = await listing_of(egress, spec(server.url))
    assert stopped.value.failure.failure_class is FailureClass.TOOL_UNREACHABLE
    (fault,) = found.faults
    assert fault.code == "mcp_server_unavailable"
    assert fault.param == "method.reinforcement.mcp_servers[0].server_url"
    assert fault.message == (
        "The tools of the MCP server 'records' could not be listed: connection refused."
    )


@cases(
    ("allowed", "names"),
    [
        (["picture", "lookup"], ["lookup", "picture"]),
        ({"read_only": True}, ["lookup"]),
        ({"tool_names": ["lookup", "count"], "read_only": False}, ["count"]),
    ],
)
async def test_allowed_tools_filter_the_listing(allowed: Any, names: list[str]) -> None:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, allowed_tools=allowed))
    (frozen,) = tools.servers
    assert frozen.listing is not None
    assert [tool.name for tool in frozen.listing.tools] == names
    functions = [tool.function for tool in frozen.listing.tools]
    example = row("search")
    example.tools.extend(functions)
    assert tools.offered(example) == functions
