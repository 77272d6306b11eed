"""Headers that repeat arguments of a call, as a tool's schema requests with `x-mcp-header`.

Owns their size limit: the model writes the arguments, and servers accept only short headers.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

MAX_CHARACTERS: Final = 4_096
"""Limit of characters of all values of a call, as sent."""


def argument_headers(
    schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the headers of a call; none for a schema with an invalid `x-mcp-header`."""
    if not schema or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


def headers_fault(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> str | None:
    """Returns the text for a model whose arguments are too long for headers."""
    values = argument_headers(schema, arguments).values()
    if sum(map(len, values)) <= MAX_CHARACTERS:
        return None
    return (
        f"Error: the arguments that are repeated in headers are longer than {MAX_CHARACTERS} "
        "characters."
    )
