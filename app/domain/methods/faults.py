"""Faults of a new job's method that its type does not show: response format, templates of graders.

They are reported when a job is made or checked, never when a stored one is read. Works on a method
and on its JSON, valid or not.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import WalkedField, walk_fields
from app.domain.errors import InvalidRequest
from app.domain.graders.graders import AnyGrader, read_grader
from app.domain.graders.row_readings import literal_faults
from app.domain.graders.template_faults import sample_fault, template_fault
from app.domain.methods.mcp_faults import mcp_faults
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.response_format import (
    NOT_ENFORCED,
    gives_json,
    response_format_fault,
)
from app.domain.tools import rates

_FORMAT: Final = "response_format"


def reinforcement_faults(method: Any, root: str) -> Iterator[InvalidRequest]:
    """Yields the faults of `method.reinforcement`, in the order in which they are reported."""
    sent = _response_format(method)
    fault = response_format_fault(sent, f"{root}.{_FORMAT}")
    if fault is not None:
        yield fault
    json_output = gives_json(sent)
    for field in walk_fields(ReinforcementMethod, method):
        fault = (
            template_fault(field, root)
            or sample_fault(field, root, json_output=json_output)
            or _rate_fault(field, root)
        )
        if fault is not None:
            yield fault
    yield from mcp_faults(method, root)
    grader = readable_grader(method)
    if grader is not None:
        yield from literal_faults(grader, f"{root}.grader")


def readable_grader(method: Any) -> AnyGrader | None:
    """Returns the grader of a method or of its JSON, `None` where it cannot be read."""
    sent = method.get("grader") if isinstance(method, dict) else getattr(method, "grader", None)
    try:
        return read_grader(sent)
    except (ValidationError, PydanticCustomError):
        return None


def _rate_fault(field: WalkedField, root: str) -> InvalidRequest | None:
    match field.path:
        case ("tools", int(), rates.KEY):
            return rates.rate_fault(field.value, parameter(root, field.path))
        case _:
            return None


def format_warning(method: Any) -> str | None:
    """Returns the warning about a response format that asks for JSON; `None` for any other."""
    return NOT_ENFORCED if gives_json(_response_format(method)) else None


def _response_format(method: Any) -> Any:
    """Returns the format of a method or of its JSON, as it was sent."""
    match method:
        case ReinforcementMethod(response_format=sent) | {"response_format": sent}:
            return sent
        case _:
            return None
