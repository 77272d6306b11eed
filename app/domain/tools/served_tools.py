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
    tools: Sequence[ToolSpec], root: str
) -> tuple[tuple[ToolSpec, ...], tuple[McpServerSpec, ...]]:
    """Returns the tools of a job with an endpoint of their own, and the MCP servers of the others.
    `root` is the parameter of the tools. Raises `InvalidRequest`.
    """
    sent = [tool.model_dump(mode="json") for tool in tools]
    for index, tool in enumerate(sent):
        at = f"{root}[{index}]"
        fault = label_fault(tool.get(LABEL), f"{at}.{LABEL}") or rate_fault(
            tool.get(RATE_LIMIT), f"{at}.{RATE_LIMIT}"
        )
        if fault is not None:
            raise fault
    _, servers = by_server(sent)
    for server in servers:
        names = server["allowed_tools"]
        if len(set(names)) < len(names):
            raise refused_value(root, "it has a tool of an MCP server twice")
    own = tuple(tool for tool, json_ in zip(tools, sent, strict=True) if not is_served(json_))
    return own, tuple(McpServerSpec.model_validate(server) for server in servers)


def by_server(tools: Sequence[Any]) -> tuple[list[Any], list[Json]]:
    """Returns the tools without an MCP server, and the servers of the others. Tools with the same
    label, address and headers share a server, which offers only these tools.
    """
    own, servers = list[Any](), dict[str, Json]()
    for tool in tools:
        if not is_served(tool):
            own.append(tool)
            continue
        sent = {
            "type": "mcp",
            LABEL: tool[LABEL],
            "server_url": tool.get("server_url"),
            "headers": tool.get("headers"),
        }
        server = servers.setdefault(json.dumps(sent, sort_keys=True), {**sent, "allowed_tools": []})
        server["allowed_tools"].append(tool.get("name"))
        sent_rates = (server.get(RATE_LIMIT), tool.get(RATE_LIMIT))
        if rates := [rate for rate in sent_rates if rate is not None]:
            server[RATE_LIMIT] = lowest_rate(rates)
    return own, list(servers.values())


def is_served(tool: Any) -> bool:
    return isinstance(tool, Mapping) and tool.get(LABEL) is not None


def refuse_served(tool: ToolSpec) -> None:
    """Raises `InvalidRequest` for a tool that an MCP server answers."""
    if is_served(tool.model_extra):
        why = (
            "an MCP server answers this tool: POST /v1/fine_tuning/alpha/mcp_servers/test calls it"
        )
        raise refused_value(LABEL, why)


def served(server: McpServerSpec, listing: McpListing) -> Iterator[Json]:
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
