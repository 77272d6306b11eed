"""`rate_limit`, an extra key of a tool: the calls per second that its endpoint takes."""

from typing import Any, Final

from app.domain.errors import InvalidRequest
from app.domain.tools.tools import ToolSpec

KEY: Final = "rate_limit"


def sent_rate(tool: ToolSpec) -> Any:
    return (tool.model_extra or {}).get(KEY)


def is_rate(sent: Any) -> bool:
    return isinstance(sent, int | float) and not isinstance(sent, bool) and sent > 0


def rate_fault(sent: Any, param: str) -> InvalidRequest | None:
    """Returns the error for a value that limits nothing; `None` for a rate and for null."""
    if sent is None or is_rate(sent):
        return None
    return InvalidRequest(
        f"Invalid value for '{param}': it must be a number above 0, the calls per second.",
        param=param,
        code="invalid_value",
    )
