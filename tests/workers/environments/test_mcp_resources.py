"""Resources of MCP servers: listed once, read by the model through one tool."""

import json
from typing import Any

import pytest

from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.trajectory import FailureClass
from app.tools.mcp_servers import MAX_RESOURCES, McpResource, listed_resource
from app.tools.tools import ToolOutcome
from tests.support.cases import cases
from tests.support.mcp.mcp_clients import egress_to, listing_of, spec, tools_of
from tests.support.mcp.mcp_server import PICTURE, mcp_server
from tests.support.rollout.rollouts import KEY, call_once
from tests.support.runs.journals import as_stored
from workers.environments.tool_environment import McpTools
from workers.journal import InMemoryJournal
from workers.rollout.environment import CallPosition, ToolFailure

READ = "read_records"
POSITION = CallPosition(KEY, 0, 0)
RESOURCES: dict[str, str | bytes] = {"notes://a/prices": "gold costs 7", "notes://a/map": PICTURE}


async def read(tools: McpTools, uri: Any, journal: InMemoryJournal | None = None, /) -> ToolOutcome:
    (server,) = tools.servers
    assert server.listing is not None
    offered = [tool.function for tool in server.listing.tools]
    called = ParsedToolCall(READ, json.dumps({"uri": uri}))
    outcome = await call_once(tools, called, offered, journal=journal or InMemoryJournal())
    await tools.release(KEY)
    return outcome


async def test_the_listing_has_the_resources_and_a_tool_that_names_them() -> None:
    with mcp_server(resources=RESOURCES) as server:
        async with egress_to(server) as egress:
            plain = await listing_of(egress, spec(server.url))
            found = await listing_of(egress, spec(server.url, resources=True))
    assert plain.listing is not None
    assert found.listing is not None
    assert plain.listing.resources == ()
    assert "resources" not in plain.listing.model_dump()
    assert [each.uri for each in found.listing.resources] == list(RESOURCES)
    assert found.listing.tools[:-1] == plain.listing.tools
    function = found.listing.tools[-1].function["function"]
    assert function["name"] == READ
    assert function["parameters"]["properties"]["uri"]["enum"] == list(RESOURCES)
    assert "- notes://a/prices: prices (text/plain), About notes://a/prices" in (
        function["description"].splitlines()
    )


@cases("handshake_only", [False, True])
async def test_a_resource_is_read_with_the_ids_of_its_rollout(handshake_only: bool) -> None:
    with mcp_server(resources=RESOURCES, handshake_only=handshake_only) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, resources=True))
            text = await read(tools, "notes://a/prices")
            picture = await read(tools, "notes://a/map")
    assert (text.output, text.error, text.attempts) == ("gold costs 7", None, 1)
    shown = "[resource notes://a/map of type image/png: only text can be read]"
    assert (picture.output, picture.error) == (shown, None)
    heard = server.read()[0]
    assert heard.message["params"]["uri"] == "notes://a/prices"
    meta = heard.message["params"]["_meta"]
    assert meta["agent-rft/rollout-id"] == heard.headers["x-rollout-id"] == KEY.trace_id
    assert meta["agent-rft/call-id"] == heard.headers["idempotency-key"] == POSITION.call_id


async def test_what_was_not_listed_is_the_models_mistake_and_not_requested() -> None:
    with mcp_server(resources=RESOURCES) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, resources=True))
            outcome = await read(tools, "file:///etc/passwd")
    assert outcome.error == "bad_arguments"
    assert outcome.output == (
        "Error: there is no resource 'file:///etc/passwd'. "
        "Resources: notes://a/prices, notes://a/map."
    )
    assert not server.read()


TEMPLATE = "notes://b/{name}/price"


@cases("handshake_only", [False, True])
async def test_an_address_that_fits_a_template_is_read(handshake_only: bool) -> None:
    with mcp_server(
        templates={TEMPLATE: {"gold": "gold costs 7"}}, handshake_only=handshake_only
    ) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, resources=True))
            (entry,) = tools.servers
            assert entry.listing is not None
            function = entry.listing.tools[-1].function["function"]
            text = await read(tools, "notes://b/gold/price")
            unknown = await read(tools, "notes://b/lead/price")
            asked = len(server.read())
            other = await read(tools, "notes://c/gold/price")
    (listed,) = entry.listing.resources
    assert (listed.uri, listed.template) == (TEMPLATE, True)
    line = f"- {TEMPLATE}: by name (text/plain), About {TEMPLATE}"
    assert line in function["description"].splitlines()
    assert "enum" not in function["parameters"]["properties"]["uri"]
    assert (text.output, text.error) == ("gold costs 7", None)
    assert (unknown.output, unknown.error) == (
        "Error: there is no record of lead",
        "invalid_params",
    )
    assert (other.error, len(server.read())) == ("bad_arguments", asked), "it is not sent"
    assert other.output.endswith(f"Resources: {TEMPLATE}.")


@cases(
    ("template", "uri", "fits"),
    [
        ("a://{x}", "a://b", True),
        ("a://{x}", "a://", False),
        ("a://{x}/z", "a://b/z", True),
        ("a://{x}/z", "a://b/y", False),
        ("a://{x}/{y}.txt", "a://b/c.txt", True),
        ("a://{x}/{y}.txt", "a://b.txt", False),
        ("a://{x}/{y}.txt", "a:///c.txt", False),
        ("a://{+path}", "a://b/c/d", True),
        ("a://b{?q,r}", "a://b", True),
        ("a://b{?q,r}", "a://b?q=1", True),
        ("a://b{?q,r}", "a://c", False),
        ("{x}", "etc", True),
        ("a://{x}{y}", "a://b", False),
        ("a://{x", "a://b", False),
        ("a://b", "a://b", True),
        ("a://{x}", "b" * 3_000, False),
        ("a://{x}", "a://" + "b" * 3_000, False),
    ],
)
def test_an_address_fits_a_template_by_its_fixed_parts(template: str, uri: str, fits: bool) -> None:
    listed = [McpResource(uri=template, name="t", template=True)]
    assert (listed_resource(uri, listed) is not None) is fits


async def test_a_resource_over_the_limit_is_a_413_text() -> None:
    with mcp_server(resources={"notes://a/long": "x" * 1_100_000}) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, resources=True))
            outcome = await read(tools, "notes://a/long")
    assert outcome.error == "too_large"
    assert "413" in outcome.output


async def test_a_reading_is_journalled_and_a_failed_one_is_no_mistake_of_the_model() -> None:
    journal = InMemoryJournal()
    with mcp_server(resources=dict(RESOURCES)) as server:
        async with egress_to(server) as egress:
            tools = await tools_of(egress, spec(server.url, resources=True))
            server.statuses += [503]
            first = await read(tools, "notes://a/prices", journal)
            again = await read(tools, "notes://a/prices", as_stored(journal))
            server.resources.clear()
            with pytest.raises(ToolFailure) as gone:
                await read(tools, "notes://a/map")
            await tools.release(KEY)
    assert (first.output, first.attempts) == ("gold costs 7", 2)
    assert again.output == first.output
    uris = [heard.message["params"]["uri"] for heard in server.read()]
    assert uris[:2] == ["notes://a/prices"] * 2
    assert set(uris[2:]) == {"notes://a/map"}
    assert gone.value.failure.failure_class is FailureClass.TOOL_ERROR


@cases(
    ("resources", "extra", "code", "words"),
    [
        ({}, {}, "no_resources", "lists no resources"),
        (
            {f"notes://a/{number}": "x" for number in range(MAX_RESOURCES + 1)},
            {},
            "mcp_server_unavailable",
            f"lists more than {MAX_RESOURCES} resources",
        ),
        (
            {"notes://a/canary-5f-0123456789": "x"},
            {"authorization": "canary-5f-0123456789"},
            "invalid_resource",
            "notes://a/[redacted]",
        ),
    ],
)
async def test_resources_that_cannot_be_offered_are_a_fault(
    resources: dict[str, str | bytes], extra: dict[str, str], code: str, words: str
) -> None:
    with mcp_server(resources=resources) as server:
        async with egress_to(server) as egress:
            found = await listing_of(egress, spec(server.url, resources=True, **extra))
    assert found.listing is None
    (fault,) = found.faults
    assert fault.code == code
    assert words in fault.message
