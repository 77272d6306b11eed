"""Faults of a job's MCP servers that their types do not show: labels, headers, a listing in the
request. Works on a method and on its JSON, valid or not.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from app.graders.definitions import AnyGrader, literal_faults, read_grader
from app.graders.grader_model import GraderModel
from app.graders.template_faults import sample_fault, template_fault
from app.graders.templates import DefinitionWork
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.response_formats import NOT_ENFORCED, gives_json, response_format_fault
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import WalkedField, parameter, value_of
from app.tools import tools as rates
from app.tools.environment_options import HTTP
from app.tools.environments import is_built_in_name

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
    useless = grader.out_of_reach(reward)
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
