"""Finds the addresses and models that the job of a create call would call.

Accepts bodies that fail validation, so that one report can contain every fault.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField, headers_of, walk_fields
from app.domain.environments.environments import is_graded_by, read_environment
from app.domain.graders.graders import is_used, unused_paths
from app.domain.methods.reinforcement import ReinforcementMethod
from app.preflight.method_parts import ROOT, is_http, reinforcement_of


@dataclass(frozen=True, slots=True)
class CalledAddress:
    """An address of the customer that the job would call."""

    param: str
    name: str
    url: str
    headers: dict[str, str]
    is_used: bool
    """False for a part of a grader that the formula does not use: its address is checked but not
    probed.
    """


def called_addresses(method: dict[str, Any]) -> list[CalledAddress]:
    """Returns tools, then graders with an address, at any depth and even if the rest of the call is
    invalid; no MCP servers, whose tools are listed instead.
    """
    unused = unused_paths(reinforcement_of(method))
    found = [
        CalledAddress(
            param=parameter(ROOT, field.path),
            name=_name(field),
            url=field.value,
            headers={str(name): str(value) for name, value in (headers_of(field) or {}).items()},
            is_used=is_used(field.path, unused),
        )
        for field in called_fields(method)
        if field.kind is FieldKind.ADDRESS and field.path[0] != "mcp_servers"
    ]
    return sorted(found, key=lambda address: not address.param.startswith(f"{ROOT}.tools"))


def called_models(method: dict[str, Any], kind: FieldKind) -> Iterator[tuple[str, str]]:
    """Yields parameter and value of each judge or embedding, but for parts that are never run."""
    unused = unused_paths(reinforcement_of(method))
    for field in called_fields(method):
        if field.kind is kind and is_used(field.path, unused):
            yield parameter(ROOT, field.path), field.value


def called_fields(method: dict[str, Any]) -> Iterator[WalkedField]:
    """Yields the fields of a method, except those of a grader derived from its environment, which
    are reported there, and those of an environment whose grader the job does not use.
    """
    inner = reinforcement_of(method)
    if is_http(inner):
        yield from walk_fields(ReinforcementMethod, inner)
        return
    doubled = "environment" if _has_own_grader(inner) else "grader"
    environment = inner.get("environment")
    sent = environment if isinstance(environment, dict) else {}
    for field in walk_fields(ReinforcementMethod, inner):
        is_sent = field.path[0] == "environment" or sent.get(str(field.path[-1])) == field.value
        if field.path[0] != doubled or not is_sent:
            yield field


def _has_own_grader(inner: dict[str, Any]) -> bool:
    """Returns whether a call has a grader besides its environment's."""
    try:
        environment = read_environment(inner.get("environment"))
    except ValueError:  # pydantic raises its two kinds
        return False
    return inner.get("grader") is not None and not is_graded_by(environment, inner["grader"])


def _name(field: WalkedField) -> str:
    name = field.owner.get("name")
    if isinstance(name, str):
        return name
    match field.path[0]:
        case "tools":
            return "tool"
        case "environment":
            return "environment"
        case _:
            return "grader"
