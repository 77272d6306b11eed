"""`rate_limit`, an extra key of a tool or MCP server: the calls per second that it takes."""

from typing import Any, Final

from pydantic import BaseModel

from app.domain.errors import InvalidRequest, refused_value

KEY: Final = "rate_limit"
_HIGHEST: Final = 1_000_000
"""A JSON integer may have more digits than a float can hold."""


def sent_rate(owner: BaseModel) -> Any:
    return (owner.model_extra or {}).get(KEY)


def declared_rate(owner: BaseModel) -> float | None:
    """Returns the requests per second, `None` if the key is absent or not a positive number."""
    rate = sent_rate(owner)
    return float(min(rate, _HIGHEST)) if is_rate(rate) else None


def is_rate(sent: Any) -> bool:
    return isinstance(sent, int | float) and not isinstance(sent, bool) and sent > 0


def rate_fault(sent: Any, param: str) -> InvalidRequest | None:
    """Returns the error for a value that limits nothing; `None` for a rate and for null."""
    if sent is None or is_rate(sent):
        return None
    return refused_value(param, "it must be a number above 0, the calls per second")
