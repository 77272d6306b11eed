"""Tools that an MCP server answers, marked by `server_label` beside a tool's address, as JSON."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from app.kit.errors import InvalidRequest, PreflightIssue, refused_value
from app.kit.fields import Json, value_of
from app.kit.texts import SERVER_LABEL, TOOL_NAME
from app.tools.mcp_servers import McpListing, McpResource, McpServerSpec, McpTool, is_reading_tool
from app.tools.tools import KEY as RATE_LIMIT
from app.tools.tools import LABEL, ToolSpec, lowest_rate, rate_fault

_LABEL: Final = re.compile(SERVER_LABEL)
_WORDS: Final = "it must be 1 to 64 letters, digits, '_' and '-', a letter first"


def label_fault(label: Any, param: str) -> InvalidRequest | None:
    if label is None or (isinstance(label, str) and _LABEL.fullmatch(label)):
        return None
    return refused_value(param, _WORDS)


def split_tools(
    tools: Sequence[ToolSpec], root: str, *, beside: Sequence[McpServerSpec] = ()
) -> tuple[tuple[ToolSpec, ...], tuple[McpServerSpec, ...]]:
    sent = [tool.model_dump(mode="json") for tool in tools]
    for fault in served_faults(sent, root, beside=[server.server_label for server in beside]):
        raise fault
    _, servers = by_server(sent)
    own = tuple(tool for tool, json_ in zip(tools, sent, strict=True) if not is_served(json_))
    return own, tuple(McpServerSpec.model_validate(server) for server in servers)


def served_faults(
    tools: Sequence[Any], root: str, *, beside: Sequence[Any]
) -> Iterator[InvalidRequest]:
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
    return {
        "type": "mcp",
        LABEL: tool[LABEL],
        "server_url": tool.get("server_url"),
        "headers": tool.get("headers"),
    }


def server_key(tool: Mapping[str, Any]) -> str:
    return json.dumps(_server_of(tool), sort_keys=True)


def is_served(tool: Any) -> bool:
    return isinstance(tool, Mapping) and tool.get(LABEL) is not None


def refuse_served(tool: ToolSpec, *, address: str) -> None:
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


SERVERS: Final = "method.reinforcement.mcp_servers"
MAX_SCHEMA_CHARACTERS: Final = 500_000
"""Limit of all schemas of a job together, which are part of every prompt and of the job's row."""
_NAME: Final = re.compile(TOOL_NAME)
_SHOWN: Final = 20
_SHOWN_CHARACTERS: Final = 64
_MOST_FAULTS: Final = 10
"""Most faults of one kind that are reported: a server can have a thousand."""
CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class ListedTool:
    tool: McpTool
    read_only: bool
    fault: str | None = None
    """The reason why it cannot be offered, a clause; it counts only if the tool is allowed."""


@dataclass(frozen=True, slots=True)
class ListingFault:
    code: str
    param: str
    message: str


def select_allowed_tools(
    server: McpServerSpec, listed: Sequence[ListedTool], at: str
) -> tuple[tuple[McpTool, ...], list[ListingFault]]:
    label, names, only = server.server_label, server.names, server.read_only
    known = {each.tool.name for each in listed}
    unknown = [name for name in dict.fromkeys(names or ()) if name not in known]
    faults = [
        ListingFault(
            "unknown_tool",
            f"{at}.allowed_tools",
            f"The MCP server '{label}' has no tool {name}. Its tools: {_enumerated(known)}.",
        )
        for name in _quoted(unknown)
    ]
    allowed = [
        each
        for each in listed
        if (names is None or each.tool.name in names) and only in (None, each.read_only)
    ]
    chosen = tuple(each.tool for each in allowed)
    faulty = [each for each in allowed if each.fault is not None]
    faults += [
        ListingFault(
            "invalid_tool",
            f"{at}.allowed_tools",
            f"The tool '{shown_name(each.tool.name)}' of the MCP server '{label}' cannot be "
            f"offered: {each.fault}. Correct it, or leave it out with 'allowed_tools'.",
        )
        for each in faulty[:_MOST_FAULTS]
    ]
    unfit = [
        each.tool.name
        for each in allowed
        if each.fault is None and _NAME.fullmatch(each.tool.name) is None
    ]
    faults += [
        ListingFault(
            "invalid_tool_name",
            f"{at}.allowed_tools",
            f"The tool {name} of the MCP server '{label}' cannot be offered: a model calls "
            "names of 1 to 64 letters, digits, '_' and '-'. Leave it out with 'allowed_tools'.",
        )
        for name in _quoted(unfit)
    ]
    if not chosen and not faults and not (server.resources and not listed):
        message = f"The MCP server '{label}' has no tool that 'allowed_tools' lets through."
        if not listed:
            message = f"The MCP server '{label}' lists no tools."
        faults.append(ListingFault("no_tools", at, message))
    return chosen, faults


def resource_faults(
    server: McpServerSpec, listed: Sequence[McpResource], shown: Sequence[McpResource], at: str
) -> list[ListingFault]:
    label, param = server.server_label, f"{at}.resources"
    if server.resources and not listed:
        message = f"The MCP server '{label}' lists no resources: leave 'resources' out."
        return [ListingFault("no_resources", param, message)]
    hidden = [after.uri for before, after in zip(listed, shown, strict=True) if before != after]
    return [
        ListingFault(
            "invalid_resource",
            param,
            f"The MCP server '{label}' repeats a credential that it is sent in the address of the "
            f"resource {uri}: a job keeps and shows its resources, so that they are not offered.",
        )
        for uri in _quoted([uri for uri in hidden if uri not in {each.uri for each in listed}])
    ]


def clashes(
    servers: Iterable[tuple[str, Sequence[McpTool]]], job_tools: Iterable[str], *, most: int
) -> Iterator[ListingFault]:
    chosen = list(servers)
    own = list(job_tools)
    yield from islice(_duplicates(chosen, own), _MOST_FAULTS)
    tools = [tool for _, each in chosen for tool in each]
    different = len({*own, *(tool.name for tool in tools)})
    characters = sum(tool.characters for tool in tools)
    if different > most:
        message = f"The job has {different} tools; at most {most} can be offered."
        yield ListingFault("too_many_tools", SERVERS, message)
    if characters > MAX_SCHEMA_CHARACTERS:
        message = (
            f"The schemas of the job's MCP tools have {characters} characters; at most "
            f"{MAX_SCHEMA_CHARACTERS} can be offered."
        )
        yield ListingFault("schemas_too_large", SERVERS, message)


def _duplicates(
    servers: Iterable[tuple[str, Sequence[McpTool]]], job_tools: Iterable[str]
) -> Iterator[ListingFault]:
    owners = dict.fromkeys(job_tools, "method.reinforcement.tools")
    for index, (label, tools) in enumerate(servers):
        for tool in tools:
            if (owner := owners.get(tool.name)) is not None:
                yield _duplicate(tool, label, owner, f"{SERVERS}[{index}]")
            owners.setdefault(tool.name, f"the MCP server '{label}'")


def _duplicate(tool: McpTool, label: str, owner: str, at: str) -> ListingFault:
    if is_reading_tool(tool, label):
        name, cure = "resources", "Give the server another label, or leave out 'resources'."
    else:
        name, cure = "allowed_tools", "Leave one of them out with 'allowed_tools'."
    return ListingFault(
        "duplicate_tool",
        f"{at}.{name}",
        f"The tool '{tool.name}' of the MCP server '{label}' has the name of a tool of {owner}: a "
        f"model could not distinguish them. {cure}",
    )


def shown_name(name: str) -> str:
    return name if len(name) <= _SHOWN_CHARACTERS else name[:_SHOWN_CHARACTERS] + CUT


def _quoted(names: Sequence[str]) -> list[str]:
    quoted = [f"'{shown_name(name)}'" for name in names[:_MOST_FAULTS]]
    more = len(names) - len(quoted)
    return [*quoted[:-1], f"{quoted[-1]} (and {more} more)"] if more else quoted


def functions_of(listings: Iterable[McpListing | None]) -> list[dict[str, Any]]:
    return [tool.function for listing in listings if listing is not None for tool in listing.tools]


def _enumerated(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return (
        ", ".join(map(shown_name, ordered[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
        or "none"
    )


_TOOLS: Final = "method.reinforcement.tools"
_SERVER: Final = re.compile(re.escape(SERVERS) + r"\[([0-9]+)\](?:\.(.+))?", re.DOTALL)
_SHARED: Final = frozenset({"headers", "rate_limit", "server_label", "server_url"})


@dataclass(frozen=True, slots=True)
class _SentTool:
    at: str
    name: str
    label: str
    is_reference: bool

    def param(self, below: str) -> str:
        key = below.replace("[", ".").split(".", 1)[0]
        if self.is_reference or key not in (*_SHARED, "allowed_tools"):
            return self.at
        return f"{self.at}.{'name' if key == 'allowed_tools' else below}"

    def message(self, message: str) -> str:
        if f"MCP server '{self.label}'" in message:
            return message
        kind = "registered tool" if self.is_reference else "tool"
        return f"{message} It is about the MCP server '{self.label}' of the {kind} '{self.name}'."


@dataclass(frozen=True, slots=True)
class SentServers:
    sent: int = 0
    added: tuple[tuple[_SentTool, ...], ...] = ()

    @classmethod
    def of(cls, tools: Sequence[Any], references: Sequence[bool], *, sent: int) -> "SentServers":
        """Reads the JSON of a call's tools, of which some were sent as references."""
        servers: dict[str, list[_SentTool]] = {}
        for index, (tool, is_reference) in enumerate(zip(tools, references, strict=True)):
            if is_served(tool):
                at, name, label = f"{_TOOLS}[{index}]", str(tool.get("name")), str(tool[LABEL])
                found = _SentTool(at, name, label, is_reference)
                servers.setdefault(server_key(tool), []).append(found)
        return cls(sent, tuple(map(tuple, servers.values())))

    def as_sent(self, param: str | None, message: str) -> tuple[str | None, str]:
        """Returns a parameter and its message; those of an added server in the client's terms."""
        if param == SERVERS and self.added and not self.sent:
            return _TOOLS, message
        found = _SERVER.fullmatch(param or "")
        if found is None or int(found[1]) < self.sent:
            return param, message
        index = int(found[1]) - self.sent
        if index >= len(self.added):
            return param, message
        tools = self.added[index]
        tool = next((tool for tool in tools if f"'{tool.name}'" in message), tools[0])
        at = tool.param(found[2] or "")
        return at, tool.message(message.replace(f"'{param}'", f"'{at}'"))

    def error(self, error: InvalidRequest) -> InvalidRequest:
        param, message = self.as_sent(error.param, error.message)
        if param == error.param:
            return error
        return type(error)(message, param=param, code=error.code)

    def issue(self, issue: PreflightIssue) -> PreflightIssue:
        param, message = self.as_sent(issue.param, issue.message)
        return replace(issue, param=param, message=message)


ALL_SENT: Final = SentServers()
