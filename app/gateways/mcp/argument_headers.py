"""Headers that repeat arguments of a call, as a tool's schema asks with `x-mcp-header`.

Owns their limit: they are words of the model, and servers take few of them in headers.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

MAX_CHARACTERS: Final = 4_096
"""Limit of the values of a call together, as they are sent."""


def argument_headers(
    schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the headers of a call; none for a schema that asks for them in an unlawful way."""
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
