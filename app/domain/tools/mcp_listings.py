"""Chooses the tools of MCP servers that a job offers, and reports the faults of the choice.

Owns the filter `allowed_tools`, the names that a model can call, and the refusal of names that two
tools share. Promises: the faults are few and short, whatever a server lists. Pure. Must not know
how a server is called.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from app.domain.texts.patterns import TOOL_NAME
from app.domain.tools.mcp_resources import is_reading_tool
from app.domain.tools.mcp_servers import McpListing, McpResource, McpServerSpec, McpTool

SERVERS: Final = "method.reinforcement.mcp_servers"
MAX_SCHEMA_CHARACTERS: Final = 500_000
"""Limit of all schemas of a job together, which are part of every prompt and of the job's row."""
_NAME: Final = re.compile(TOOL_NAME)
_SHOWN: Final = 20
"""Largest number of names in a message."""
_SHOWN_CHARACTERS: Final = 64
_MOST_FAULTS: Final = 10
"""Largest number of faults of one kind that are reported separately: a server can have a thousand.
"""
CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it."""

    tool: McpTool
    read_only: bool
    """The server annotates it as read-only."""


@dataclass(frozen=True, slots=True)
class ListingFault:
    """A reason why a job cannot offer the tools of its servers."""

    code: str
    param: str
    message: str


def select_allowed_tools(
    server: McpServerSpec, listed: Sequence[ListedTool], at: str
) -> tuple[tuple[McpTool, ...], list[ListingFault]]:
    """Returns the tools that `allowed_tools` permits, and the faults of the choice. `at` is the
    server's parameter.
    """
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
    chosen = tuple(
        each.tool
        for each in listed
        if (names is None or each.tool.name in names) and only in (None, each.read_only)
    )
    unfit = [tool.name for tool in chosen if _NAME.fullmatch(tool.name) is None]
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
    server: McpServerSpec,
    listed: Sequence[McpResource],
    shown: Sequence[McpResource],
    at: str,
) -> list[ListingFault]:
    """Returns the faults of the resources that a job asks for. `shown` are they without the
    credentials that the server was sent: an address that had one could not be read.
    """
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
    """Yields the conflicts between the tools of a job. `servers`: each label with its chosen tools,
    in the order of the job; `job_tools`: names of the job's HTTP tools.
    """
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
    """Returns a server's text for a message, cut if it is long."""
    return name if len(name) <= _SHOWN_CHARACTERS else name[:_SHOWN_CHARACTERS] + CUT


def _quoted(names: Sequence[str]) -> list[str]:
    """Returns the quoted names, one for each message; the last one summarises the names beyond the
    limit.
    """
    quoted = [f"'{shown_name(name)}'" for name in names[:_MOST_FAULTS]]
    more = len(names) - len(quoted)
    return [*quoted[:-1], f"{quoted[-1]} (and {more} more)"] if more else quoted


def functions_of(listings: Iterable[McpListing | None]) -> list[dict[str, Any]]:
    """Returns the tools of all listings as functions, in Chat Completions form."""
    return [tool.function for listing in listings if listing is not None for tool in listing.tools]


def _enumerated(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return (
        ", ".join(map(shown_name, ordered[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
        or "none"
    )
