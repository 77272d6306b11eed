"""Converts parameters of a job's MCP servers to what the client sent.

A tool that an MCP server answers is sent among `tools`, as a reference or a definition, and called
through an entry of `mcp_servers` that the client did not write. Owns the way back. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from app.domain.errors import InvalidRequest
from app.domain.faults.issues import PreflightIssue
from app.domain.tools.mcp_listings import SERVERS
from app.domain.tools.served_tools import is_served, server_key
from app.domain.tools.tools import LABEL

_TOOLS: Final = "method.reinforcement.tools"
_SERVER: Final = re.compile(re.escape(SERVERS) + r"\[([0-9]+)\](?:\.(.+))?", re.DOTALL)
_SHARED: Final = frozenset({"headers", "rate_limit", "server_label", "server_url"})
"""Keys of a server that its tools have too."""


@dataclass(frozen=True, slots=True)
class _SentTool:
    """A tool of an MCP server, as the client sent it."""

    at: str
    name: str
    label: str
    is_reference: bool

    def param(self, below: str) -> str:
        """Returns the parameter of a part of the server; a reference has none of its parts."""
        key = re.split(r"[.\[]", below, maxsplit=1)[0]
        if self.is_reference or key not in (*_SHARED, "allowed_tools"):
            return self.at
        return f"{self.at}.{'name' if key == 'allowed_tools' else below}"

    def message(self, message: str) -> str:
        """Returns a message that says which server it is about."""
        if f"MCP server '{self.label}'" in message:
            return message
        kind = "registered tool" if self.is_reference else "tool"
        return f"{message} It is about the MCP server '{self.label}' of the {kind} '{self.name}'."


@dataclass(frozen=True, slots=True)
class SentServers:
    """The origins of the MCP servers of a job, whose first ones were sent as such."""

    sent: int = 0
    added: tuple[tuple[_SentTool, ...], ...] = ()
    """The tools of each server that was added."""

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
"""Origins of the servers of a call that names no other."""
