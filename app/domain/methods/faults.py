"""Faults of a new job's method that its type does not show: response format, templates of graders.

They are reported when a job is created or checked, never when a stored one is read. Works on a
method and on its JSON, valid or not.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import WalkedField, value_of
from app.domain.environments.environments import is_built_in_name
from app.domain.environments.http import HTTP
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.definition_work import DefinitionWork
from app.domain.graders.grader_model import GraderModel
from app.domain.graders.graders import AnyGrader, read_grader
from app.domain.graders.ineffective_values import out_of_range
from app.domain.graders.row_readings import literal_faults
from app.domain.graders.templates.template_faults import sample_fault, template_fault
from app.domain.methods.mcp_faults import mcp_faults
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.response_format import (
    NOT_ENFORCED,
    gives_json,
    response_format_fault,
)
from app.domain.tools import rates

_FORMAT: Final = "response_format"


def reinforcement_faults(
    method: Any, root: str, walked: Sequence[WalkedField]
) -> Iterator[InvalidRequest]:
    """Yields the faults of `method.reinforcement`, in the order in which they are reported.
    `walked` are its fields.
    """
    yield from _repeated_tools(method, root)
    sent = _response_format(method)
    fault = response_format_fault(sent, f"{root}.{_FORMAT}")
    if fault is not None:
        yield fault
    json_output, in_environment = gives_json(sent), _has_http_environment(method)
    for name in ("tools", "mcp_servers") if in_environment else ():
        if value_of(method, name):
            yield refused_value(
                f"{root}.{name}",
                "the tools of the job come from its environment, which offers them when an episode "
                f"begins: send '{name}' or an 'environment' of type 'http', not both",
            )
    work = DefinitionWork()
    for field in walked:
        fault = (
            template_fault(field, root)
            or sample_fault(
                field, root, json_output=json_output, environment=in_environment, work=work
            )
            or _rate_fault(field, root)
        )
        if fault is not None:
            yield fault
    yield from mcp_faults(method, root)
    grader = readable_grader(method)
    if grader is not None:
        yield from literal_faults(grader, f"{root}.grader")
        yield from () if in_environment else _without_environment(grader, f"{root}.grader")
        yield from _useless_pass_reward(method, grader, root)


def _repeated_tools(method: Any, root: str) -> Iterator[InvalidRequest]:
    tools = value_of(method, "tools")
    names: set[str] = set()
    for tool in tools if isinstance(tools, list | tuple) else ():
        name = value_of(tool, "name")
        if isinstance(name, str) and name in names:
            yield InvalidRequest(
                f"Tool '{name}' is registered twice.", param=f"{root}.tools", code="invalid_value"
            )
            return
        if isinstance(name, str):
            names.add(name)


def _without_environment(grader: GraderModel, path: str) -> Iterator[InvalidRequest]:
    """Yields the graders that read an environment's rewards in a job without such an
    environment.
    """
    if grader.needs_environment:
        yield refused_value(
            f"{path}.type",
            "it takes the rewards of an HTTP environment: send an 'environment' of type 'http', "
            "or another grader",
        )
    for name, part in grader.parts.items():
        yield from _without_environment(part, f"{path}.graders.{name}")


def _useless_pass_reward(method: Any, grader: GraderModel, root: str) -> Iterator[InvalidRequest]:
    """Yields the fault of a `pass_reward` that every score of the grader reaches, or none: all rows
    would have the same pass rate for ever.
    """
    reward = value_of(value_of(method, "ordering"), "pass_reward")
    if not isinstance(reward, int | float) or isinstance(reward, bool):
        return
    useless = out_of_range(reward, grader)
    if useless is not None:
        yield refused_value(f"{root}.ordering.pass_reward", useless)


def _has_http_environment(method: Any) -> bool:
    """Returns whether a customer's environment plays the episodes; each registered one does."""
    environment = value_of(method, "environment")
    if isinstance(environment, str):
        return not is_built_in_name(environment)
    kind = value_of(environment, "type")
    return bool(kind == HTTP or (kind is None and value_of(environment, "id") is not None))


def readable_grader(method: Any) -> AnyGrader | None:
    """Returns the grader of a method or of its JSON, `None` if it cannot be parsed."""
    try:
        return read_grader(value_of(method, "grader"))
    except (ValidationError, PydanticCustomError):
        return None


def _rate_fault(field: WalkedField, root: str) -> InvalidRequest | None:
    match field.path:
        case ("tools", int(), rates.KEY):
            return rates.rate_fault(field.value, parameter(root, field.path))
        case _:
            return None


def format_warning(method: Any) -> str | None:
    """Returns the warning about a response format that requests JSON; `None` for any other."""
    return NOT_ENFORCED if gives_json(_response_format(method)) else None


def _response_format(method: Any) -> Any:
    """Returns the format of a method or of its JSON, as sent."""
    match method:
        case ReinforcementMethod(response_format=sent) | {"response_format": sent}:
            return sent
        case _:
            return None
