"""`rate_limit`: the calls per second that a tool, MCP server, environment or grader takes."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from app.domain.errors import InvalidRequest, refused_value

KEY: Final = "rate_limit"
_HIGHEST: Final = 1_000_000
"""Largest accepted rate: a JSON integer may have more digits than a float can represent."""
_MUST_BE: Final = "it must be a number above 0, the calls per second"


def _is_rate(sent: Any) -> bool:
    return isinstance(sent, int | float) and not isinstance(sent, bool) and sent > 0


def _rate(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    if not _is_rate(sent):
        raise PydanticCustomError("rate_limit", _MUST_BE)
    return handler(float(min(sent, _HIGHEST)))


RateLimit = Annotated[float, Field(gt=0), WrapValidator(_rate)]


def sent_rate(owner: BaseModel) -> Any:
    return (owner.model_extra or {}).get(KEY)


def declared_rate(owner: BaseModel) -> float | None:
    """Returns the rate of a tool; `None` if it limits nothing. The tool's type keeps `rate_limit`
    as sent, because stored tools may have a value that an earlier version accepted.
    """
    rate = sent_rate(owner)
    return float(min(rate, _HIGHEST)) if _is_rate(rate) else None


def lowest_rate(sent: Sequence[Any]) -> Any:
    """Returns the lowest of the sent values, or the first invalid one, which is then refused at its
    parameter.
    """
    wrong = [rate for rate in sent if not _is_rate(rate)]
    return wrong[0] if wrong else min(sent)


def rate_fault(sent: Any, param: str) -> InvalidRequest | None:
    """Returns the error for a value that limits nothing; `None` for a valid rate and for null."""
    return None if sent is None or _is_rate(sent) else refused_value(param, _MUST_BE)
