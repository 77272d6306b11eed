"""Chooses the tools of MCP servers that a job offers, and names what is wrong with the choice.

Owns the filter `allowed_tools`, the names that a model can call, and the refusal of names that two
tools share. Pure. Must not know how a server is asked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.domain.tools.mcp_servers import McpListing, McpServerSpec, McpTool
from app.domain.tools.tools import TOOL_NAME

SERVERS: Final = "method.reinforcement.mcp_servers"
MAX_SCHEMA_CHARACTERS: Final = 500_000
"""Limit of all schemas of a job together: they are a part of every prompt and of the job's row."""
_NAME: Final = re.compile(TOOL_NAME)
_SHOWN: Final = 20


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


def allowed(
    server: McpServerSpec, listed: Sequence[ListedTool], at: str
) -> tuple[tuple[McpTool, ...], list[ListingFault]]:
    """Returns the tools that `allowed_tools` lets through, and the faults of the choice. `at` is
    the server's parameter.
    """
    label, names, only = server.server_label, server.names, server.read_only
    known = {each.tool.name for each in listed}
    faults = [
        ListingFault(
            "unknown_tool",
            f"{at}.allowed_tools",
            f"The MCP server '{label}' has no tool '{name}'. Its tools: {_enumerated(known)}.",
        )
        for name in dict.fromkeys(names or ())
        if name not in known
    ]
    chosen = tuple(
        each.tool
        for each in listed
        if (names is None or each.tool.name in names) and only in (None, each.read_only)
    )
    faults += [
        ListingFault(
            "invalid_tool_name",
            f"{at}.allowed_tools",
            f"The tool '{tool.name}' of the MCP server '{label}' cannot be offered: a model calls "
            "names of 1 to 64 letters, digits, '_' and '-'. Leave it out with 'allowed_tools'.",
        )
        for tool in chosen
        if _NAME.fullmatch(tool.name) is None
    ]
    if not chosen and not faults:
        message = f"The MCP server '{label}' has no tool that 'allowed_tools' lets through."
        if not listed:
            message = f"The MCP server '{label}' lists no tools."
        faults.append(ListingFault("no_tools", at, message))
    return chosen, faults


def clashes(
    servers: Iterable[tuple[str, Sequence[McpTool]]], job_tools: Iterable[str], *, most: int
) -> Iterator[ListingFault]:
    """Yields the faults that the tools of a job have together. `servers`: each label with its
    chosen tools, in the order of the job; `job_tools`: names of the job's HTTP tools.
    """
    owners = dict.fromkeys(job_tools, "method.reinforcement.tools")
    characters = 0
    for index, (label, tools) in enumerate(servers):
        for tool in tools:
            characters += len(tool.input_schema_json) + len(tool.description or "")
            if (owner := owners.get(tool.name)) is not None:
                yield ListingFault(
                    "duplicate_tool",
                    f"{SERVERS}[{index}].allowed_tools",
                    f"The tool '{tool.name}' of the MCP server '{label}' has the name of a tool of "
                    f"{owner}: a model could not tell them apart. Leave one of them out with "
                    "'allowed_tools'.",
                )
            owners.setdefault(tool.name, f"the MCP server '{label}'")
    if len(owners) > most:
        message = f"The job has {len(owners)} tools; at most {most} can be offered."
        yield ListingFault("too_many_tools", SERVERS, message)
    if characters > MAX_SCHEMA_CHARACTERS:
        message = (
            f"The schemas of the job's MCP tools have {characters} characters; at most "
            f"{MAX_SCHEMA_CHARACTERS} can be offered."
        )
        yield ListingFault("schemas_too_large", SERVERS, message)


def functions_of(listings: Iterable[McpListing | None]) -> list[dict[str, Any]]:
    """Returns the tools of all listings as functions, in Chat Completions form."""
    return [tool.function for listing in listings if listing is not None for tool in listing.tools]


def _enumerated(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered[:_SHOWN]) + (f" and {more} more" if more > 0 else "") or "none"
