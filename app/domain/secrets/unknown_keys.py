"""Keys that a customer sent and no model knows: which are kept, which are refused.

Owns the rule and the table of features that do not exist yet. A text, number or boolean is kept,
echoed and reported; an object or list is refused, because it is a feature that the service would
ignore in silence.
"""

from collections.abc import Iterable
from typing import Final

from app.domain.errors import InvalidRequest
from app.domain.secrets.pointers import parameter
from app.domain.secrets.walk import Kind, Place

_MAX_LISTED: Final = 20
NOT_AVAILABLE: Final = "not_available"
UNKNOWN_PARAMETER: Final = "unknown_parameter"
_HEADERS_INSTEAD: Final = "credentials are sent in 'headers'"
_TOOLS_INSTEAD: Final = "tools are HTTP endpoints: send 'tools' with a 'server_url' each"
FEATURES: Final = {
    "mcp_servers": f"MCP servers are not available yet; {_TOOLS_INSTEAD}",
    "mcp": f"MCP servers are not available yet; {_TOOLS_INSTEAD}",
    "environment": f"environments are not available yet; {_TOOLS_INSTEAD}",
    "environments": f"environments are not available yet; {_TOOLS_INSTEAD}",
    "sandbox": "the sandbox is not available yet",
    "rubric": "rubrics are not available yet; send a 'score_model' grader",
    "rubrics": "rubrics are not available yet; send a 'score_model' grader",
    "group_grader": "graders of whole groups are not available yet",
    "auth": f"authentication flows are not available; {_HEADERS_INSTEAD}",
    "oauth": f"authentication flows are not available; {_HEADERS_INSTEAD}",
}
"""By key, wherever it occurs: features of this service to come, or of the hosted one."""
GRADER_TYPES: Final = {
    "python": "python graders are not available yet: they need the sandbox",
    "label_model": "label_model graders give no reward; score_model graders do",
}
"""By `type` of a grader; refused where graders are read."""


def refused(place: Place, root: str) -> InvalidRequest | None:
    """The error for the value of an unknown key, or for an object under a documented key of one
    value; `None` when the value is accepted and kept.
    """
    if place.kind is not Kind.UNKNOWN or place.value is None:
        return None
    param = parameter(root, place.path)
    feature = FEATURES.get(str(place.path[-1]).casefold())
    if feature is not None:
        return InvalidRequest(
            f"Invalid value for '{param}': {feature}.", param=param, code=NOT_AVAILABLE
        )
    if place.expected is not None:
        message = f"Invalid value for '{param}': it must be {place.expected}."
        return InvalidRequest(message, param=param, code="invalid_value")
    if isinstance(place.value, dict | list | tuple):
        return InvalidRequest(
            f"Unknown parameter: '{param}'. Remove it: only a text, a number or a boolean is kept "
            "under an unknown key, and an object or a list would be ignored.",
            param=param,
            code=UNKNOWN_PARAMETER,
        )
    return None


def unknown_message(parameters: list[str]) -> str:
    """The warning for values of unknown keys, which are kept."""
    listed = ", ".join(f"'{one}'" for one in parameters[:_MAX_LISTED])
    more = len(parameters) - _MAX_LISTED
    return f"Unknown parameters are kept and change nothing: {listed}" + (
        f" and {more} more" if more > 0 else ""
    )


def kept(walked: Iterable[Place], root: str) -> list[str]:
    """The parameters of unknown keys whose values are kept and used by nobody."""
    return [
        parameter(root, place.path)
        for place in walked
        if place.kind is Kind.UNKNOWN and refused(place, root) is None
    ]
