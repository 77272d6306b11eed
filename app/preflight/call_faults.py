"""Faults and warnings of a call's method and integrations that need neither files nor the network.

Covers unknown keys, bounds, placeholders of secrets, templates, sources of python graders, response
format, addresses, and integrations that exclude each other. Accepts bodies that fail validation.
Skips objects whose `type` is refused, because their valid keys are unknown.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, assert_never

from pydantic import ValidationError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField, value_of
from app.domain.errors import InvalidRequest
from app.domain.faults.issues import PreflightIssue
from app.domain.faults.unknown_keys import UNKNOWN_PARAMETER, unread
from app.domain.graders.formula_faults import formula_faults
from app.domain.graders.ineffective_values import value_faults
from app.domain.graders.source_faults import source_faults
from app.domain.jobs.creation.call_warnings import call_warnings, overridden, suffix_warnings
from app.domain.jobs.creation.integration_faults import integration_faults, sent_integrations
from app.domain.jobs.creation.preflight import issue_of
from app.domain.jobs.integrations import INTEGRATION_MODELS, INTEGRATIONS
from app.domain.jobs.jobs import TuningMethod
from app.domain.methods.faults import format_warning, reinforcement_faults
from app.domain.methods.ineffective_options import without_effect
from app.domain.methods.mcp_faults import server_faults
from app.domain.methods.method_models import METHOD_MODELS, parameters_of
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.models.models import BaseModelSpec
from app.domain.tools.served_tools import is_served, served_faults
from app.domain.tools.tools import LABEL
from app.preflight.addresses import called_fields
from app.preflight.definition_faults import MAX_UNKNOWN_KEYS, Definition, definition_faults
from app.preflight.method_parts import (
    ROOT,
    has_validation,
    merged_hyperparameters,
    method_of,
    method_type,
    reinforcement_of,
    runs_calls,
    sent_hyperparameters,
)
from app.preflight.model_faults import model_fault


def call_issues(
    body: dict[str, Any], base: BaseModelSpec | None, *, reported: Collection[str | None]
) -> list[PreflightIssue]:
    """Returns the errors, then the warnings, of the one list that a service and the command line
    share. Parameters in `reported` have an error already.
    """
    found, known, parts = list[PreflightIssue](), set(reported), _parts(body)
    for fault in _errors(body, base, parts, reported=known):
        if fault.param not in known:
            found.append(issue_of(fault))
            known.add(fault.param)
    return [*found, *_warnings(body, parts, reported=known)]


def _errors(
    body: dict[str, Any],
    base: BaseModelSpec | None,
    parts: Sequence[Definition],
    *,
    reported: Collection[str | None],
) -> Iterator[InvalidRequest]:
    kind, method, reported = method_type(body), method_of(body), frozenset(reported)
    called = {(ROOT, field.path) for field in called_fields(method)}

    def is_read(root: str, field: WalkedField) -> bool:
        return not _of_refused_type(field, root=root, reported=reported)

    def is_called(root: str, field: WalkedField) -> bool:
        return (root, field.path) in called

    yield from _integration_faults(body, read=is_read)
    yield from definition_faults(
        parts,
        elsewhere=parameters_of(kind, method.get(kind)),
        read=is_read,
        called=is_called,
    )
    if kind != "reinforcement":
        return
    yield from reinforcement_faults(method.get(kind), ROOT, parts[0].fields)
    yield from _served_faults(reinforcement_of(method))
    readable = readable_method(body)
    if readable is not None:
        yield from source_faults([(ROOT, readable)])
        yield from formula_faults([(ROOT, readable)])
        yield from value_faults([(ROOT, readable)])
    unfit = model_fault(base, runs_calls=runs_calls(method))
    if unfit is not None:
        yield unfit


def _integration_faults(
    body: dict[str, Any], *, read: Callable[[str, WalkedField], bool]
) -> Iterator[InvalidRequest]:
    sent = sent_integrations(body)
    yield from integration_faults(sent)
    parts = [
        Definition.of_json(f"{INTEGRATIONS}[{position}]", INTEGRATION_MODELS, one)
        for position, one in enumerate(sent)
    ]
    yield from definition_faults(parts, read=read)


def _served_faults(inner: dict[str, Any]) -> Iterator[InvalidRequest]:
    tools, servers = inner.get("tools"), inner.get("mcp_servers")
    labels = [value_of(each, LABEL) for each in servers] if isinstance(servers, list) else []
    if not isinstance(tools, list):
        return
    yield from served_faults(tools, f"{ROOT}.tools", beside=labels)
    for index, tool in enumerate(tools):
        if is_served(tool):
            yield from server_faults(tool, f"{ROOT}.tools[{index}]")


def _warnings(
    body: dict[str, Any], parts: Sequence[Definition], *, reported: Collection[str | None]
) -> Iterator[PreflightIssue]:
    kind = method_type(body)
    hints = parameters_of(kind, method_of(body).get(kind))
    for part in parts:
        unknown = (
            field
            for field in part.fields
            if field.kind is FieldKind.UNKNOWN
            and not _of_refused_type(field, root=part.root, reported=reported)
        )
        walked = unread(unknown, part.root, hints)
        keys = [key for key in walked if key.param not in reported]
        for key in keys[:MAX_UNKNOWN_KEYS]:
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param)
        if len(keys) > MAX_UNKNOWN_KEYS:
            message = f"Nothing reads {len(keys) - MAX_UNKNOWN_KEYS} more keys."
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, message, part.root or None)
    not_enforced = format_warning(method_of(body).get(kind)) if kind == "reinforcement" else None
    if not_enforced is not None:
        param = f"method.{kind}.response_format"
        yield PreflightIssue("warning", "response_format_not_enforced", f"{not_enforced}.", param)
    yield from _without_effect(body)


def _without_effect(body: dict[str, Any]) -> Iterator[PreflightIssue]:
    """Yields a warning for each part of the call that changes nothing."""
    found = [*overridden(*sent_hyperparameters(body)), *suffix_warnings(body.get("suffix"))]
    method = _readable(body)
    match method:
        case ReinforcementMethod():
            fields = Definition.of(ROOT, method).fields
            found += without_effect(method, ROOT, fields)
        case SupervisedMethod() | DpoMethod():
            found += call_warnings(
                method,
                has_validation=has_validation(body),
                has_rollout_cap=body.get("max_rollouts") is not None,
            )
        case None:
            pass
        case _:
            assert_never(method)
    for each in found:
        yield PreflightIssue("warning", each.code, f"{each.message}.", each.param)


def readable_method(body: dict[str, Any]) -> ReinforcementMethod | None:
    """Returns the method of a reinforcement job's call, `None` if it cannot be parsed."""
    method = _readable(body)
    match method:
        case ReinforcementMethod():
            return method
        case SupervisedMethod() | DpoMethod() | None:
            return None
        case _:
            assert_never(method)


def _readable(body: dict[str, Any]) -> TuningMethod | None:
    kind = method_type(body)
    sent = method_of(body).get(kind)
    if kind == "supervised" and isinstance(sent, dict | None):
        sent = {**(sent or {}), "hyperparameters": merged_hyperparameters(body)}
    try:
        return METHOD_MODELS[kind].model_validate({} if sent is None else sent)
    except ValidationError:
        return None


def _parts(body: dict[str, Any]) -> list[Definition]:
    """Returns the parts of a body that the domain reads, each with its models and its parameter."""
    kind = method_type(body)
    sent = method_of(body).get(kind)
    parts = [Definition.of_json(f"method.{kind}", METHOD_MODELS[kind], sent)]
    if kind == "supervised":
        deprecated = {"hyperparameters": body.get("hyperparameters")}
        parts.append(Definition.of_json("", SupervisedMethod, deprecated))
    return parts


def _of_refused_type(field: WalkedField, *, root: str, reported: Collection[str | None]) -> bool:
    """Returns whether an object around the field has a `type` that was reported."""
    return any(
        parameter(root, (*field.path[:depth], "type")) in reported
        for depth in range(len(field.path))
    )
