"""Tools that an MCP server answers, marked by `server_label` beside a tool's address. Owns the
conversion of such tools, which are registered one by one, to the entries of `mcp_servers` through
which a job calls them.

 Works on the JSON of tools. Must not know where the tools came from.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from app.domain.documents.json_object import Json
from app.domain.documents.walk import value_of
from app.domain.errors import InvalidRequest, refused_value
from app.domain.texts.patterns import SERVER_LABEL
from app.domain.tools.mcp_servers import McpListing, McpServerSpec
from app.domain.tools.rates import KEY as RATE_LIMIT
from app.domain.tools.rates import lowest_rate, rate_fault
from app.domain.tools.tools import LABEL, ToolSpec

_LABEL: Final = re.compile(SERVER_LABEL)
_WORDS: Final = "it must be 1 to 64 letters, digits, '_' and '-', a letter first"


def label_fault(label: Any, param: str) -> InvalidRequest | None:
    """Returns the error for a label that names no server; `None` for a label and for none."""
    if label is None or (isinstance(label, str) and _LABEL.fullmatch(label)):
        return None
    return refused_value(param, _WORDS)


def split_tools(
    tools: Sequence[ToolSpec], root: str, *, beside: Sequence[McpServerSpec] = ()
) -> tuple[tuple[ToolSpec, ...], tuple[McpServerSpec, ...]]:
    """Returns the tools of a job with an endpoint of their own, and the MCP servers of the others.
    `root` is the parameter of the tools, `beside` the servers that were sent. Raises
    `InvalidRequest`.
    """
    sent = [tool.model_dump(mode="json") for tool in tools]
    for fault in served_faults(sent, root, beside=[server.server_label for server in beside]):
        raise fault
    _, servers = by_server(sent)
    own = tuple(tool for tool, json_ in zip(tools, sent, strict=True) if not is_served(json_))
    return own, tuple(McpServerSpec.model_validate(server) for server in servers)


def served_faults(
    tools: Sequence[Any], root: str, *, beside: Sequence[Any]
) -> Iterator[InvalidRequest]:
    """Yields the faults of tools, as JSON, that MCP servers answer. References have none. `beside`
    are the labels of the servers that were sent.
    """
    for index, tool in enumerate(tools):
        at = f"{root}[{index}]"
        fault = label_fault(value_of(tool, LABEL), f"{at}.{LABEL}") or rate_fault(
            value_of(tool, RATE_LIMIT), f"{at}.{RATE_LIMIT}"
        )
        if fault is not None:
            yield fault
    yield from label_clashes(tools, root, beside=beside)
    _, servers = by_server(tools)
    for server in servers:
        names = [name for name in server["allowed_tools"] if isinstance(name, str)]
        if len(set(names)) < len(names):
            yield refused_value(root, "it has a tool of an MCP server twice")


def label_clashes(
    tools: Sequence[Any], root: str, *, beside: Sequence[Any]
) -> Iterator[InvalidRequest]:
    """Yields an error for each tool whose server has the label of another server: of an earlier
    tool, or of one that was sent, whose labels are `beside`. The job would have both under one
    name, at a place that the call does not have.
    """
    owners: dict[str, tuple[str | None, str]] = {
        label: (None, "a server of 'mcp_servers'") for label in beside if isinstance(label, str)
    }
    for index, tool in enumerate(tools):
        if not is_served(tool) or not isinstance(tool[LABEL], str):
            continue
        server = server_key(tool)
        owner, words = owners.setdefault(tool[LABEL], (server, f"{root}[{index}]"))
        if owner != server:
            yield refused_value(
                f"{root}[{index}]",
                f"its MCP server is labelled '{tool[LABEL]}', as is that of {words}, which has "
                "another address or other headers; give one of the servers another 'server_label'",
            )


def by_server(tools: Sequence[Any]) -> tuple[list[Any], list[Json]]:
    """Returns the tools without an MCP server, and the servers of the others. Tools with the same
    label, address and headers share a server, which offers only these tools.
    """
    own, servers = list[Any](), dict[str, Json]()
    for tool in tools:
        if not is_served(tool):
            own.append(tool)
            continue
        sent = _server_of(tool)
        server = servers.setdefault(server_key(tool), {**sent, "allowed_tools": []})
        server["allowed_tools"].append(tool.get("name"))
        sent_rates = (server.get(RATE_LIMIT), tool.get(RATE_LIMIT))
        if rates := [rate for rate in sent_rates if rate is not None]:
            server[RATE_LIMIT] = lowest_rate(rates)
    return own, list(servers.values())


def _server_of(tool: Mapping[str, Any]) -> Json:
    """Returns what makes the server of a tool."""
    return {
        "type": "mcp",
        LABEL: tool[LABEL],
        "server_url": tool.get("server_url"),
        "headers": tool.get("headers"),
    }


def server_key(tool: Mapping[str, Any]) -> str:
    """Returns what the tools of one server have in common, as a text."""
    return json.dumps(_server_of(tool), sort_keys=True)


def is_served(tool: Any) -> bool:
    return isinstance(tool, Mapping) and tool.get(LABEL) is not None


def refuse_served(tool: ToolSpec, *, address: str) -> None:
    """Raises `InvalidRequest` for a tool that is not called as an endpoint is. `address` is its URL
    as it may be shown.
    """
    label = (tool.model_extra or {}).get(LABEL)
    if label is None:
        return
    server = {LABEL: label, "server_url": address}
    raise InvalidRequest(
        f"The tool '{tool.name}' is answered by an MCP server, not by an endpoint of its own. POST "
        "/v1/fine_tuning/alpha/mcp_servers/test tests it, with the body "
        f"{json.dumps({'server': server, 'tool': tool.name})} and the server's 'headers' or "
        "'authorization'.",
        param="tool_id",
        code="invalid_value",
    )


def served_tools(server: McpServerSpec, listing: McpListing) -> Iterator[Json]:
    """Yields the definitions of a server's tools, each with everything that a call needs."""
    headers, rate = server.sent_headers, server.rate_limit
    for tool in listing.tools:
        definition = {
            "name": tool.name,
            "server_url": server.server_url,
            LABEL: server.server_label,
            "headers": headers or None,
            "description": tool.description,
            "parameters": tool.input_schema,
            RATE_LIMIT: rate,
        }
        yield {key: value for key, value in definition.items() if value is not None}
