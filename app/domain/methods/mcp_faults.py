"""Faults of a job's MCP servers that their types do not show: labels, headers, a listing in the
request. Works on a method and on its JSON, valid or not.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.domain.documents.walk import value_of
from app.domain.errors import InvalidRequest, refused_value

_OWN_HEADERS: Final = frozenset({"accept", "last-event-id"})
_OWN_PREFIX: Final = "mcp-"


def mcp_faults(method: Any, root: str) -> Iterator[InvalidRequest]:
    """Yields the faults of `mcp_servers` in a method at `root`."""
    servers = value_of(method, "mcp_servers")
    labels: set[str] = set()
    for index, server in enumerate(servers if isinstance(servers, list | tuple) else ()):
        at = f"{root}.mcp_servers[{index}]"
        label = value_of(server, "server_label")
        if isinstance(label, str):
            if label in labels:
                message = f"another MCP server of the job is labelled '{label}' as well"
                yield refused_value(f"{at}.server_label", message)
            labels.add(label)
        yield from server_faults(server, at)


def server_faults(server: Any, at: str) -> Iterator[InvalidRequest]:
    """Yields the faults of one server, at the parameter `at`."""
    for name in ("listing", "listing_summary"):
        if value_of(server, name) is not None:
            message = "the service sets it when the job starts; remove it"
            yield refused_value(f"{at}.{name}", message)
    yield from _header_faults(server, at)


def _header_faults(server: Any, at: str) -> Iterator[InvalidRequest]:
    headers = value_of(server, "headers")
    for name in headers if isinstance(headers, Mapping) else ():
        lower = str(name).lower()
        if lower in _OWN_HEADERS or lower.startswith(_OWN_PREFIX):
            yield refused_value(f"{at}.headers", f"the header '{lower}' is set by the service")
        elif lower == "authorization" and value_of(server, "authorization") is not None:
            yield refused_value(
                f"{at}.authorization", "'headers' has an Authorization already; send one of them"
            )
