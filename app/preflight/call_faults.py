"""Faults and warnings of a call's method that need neither files nor the network.

Covers unknown keys, bounds, placeholders of secrets, templates, sources of python graders, response
format and integrations. Accepts bodies that fail validation. Skips objects whose `type` is refused,
because their valid keys are unknown.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import Kind, Models, WalkedField, walk_fields
from app.domain.errors import InvalidRequest
from app.domain.faults.issues import PreflightIssue
from app.domain.faults.unknown_keys import UNKNOWN_PARAMETER, is_refused, refused, unread
from app.domain.graders.source_faults import source_faults
from app.domain.jobs.preflight import issue_of
from app.domain.methods.faults import format_warning, reinforcement_faults
from app.domain.methods.kinds import METHOD_MODELS, parameters_of
from app.domain.methods.no_effect import without_effect
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import SupervisedMethod
from app.domain.secrets.bounds import bound_faults
from app.domain.secrets.placeholders import placeholder_faults
from app.preflight.method_parts import method_of, method_type

MAX_UNKNOWN_KEYS: Final = 200
"""Largest number of listed unknown keys of one call, for refused and accepted ones each."""


def call_faults(body: dict[str, Any], *, reported: set[str | None]) -> list[PreflightIssue]:
    """Returns the errors, then the warnings. Parameters in `reported` have an error already."""
    found = list[PreflightIssue]()
    for fault in _errors(body, reported=reported):
        if fault.param not in reported:
            found.append(issue_of(fault))
            reported = reported | {fault.param}
    return [*found, *_warnings(body, reported=reported)]


def _errors(body: dict[str, Any], *, reported: set[str | None]) -> Iterator[InvalidRequest]:
    kind = method_type(body)
    hints = parameters_of(kind, method_of(body).get(kind))
    for models, root, value in _parts(body):
        walked = [field for field in _walked(models, root, value, reported) if is_refused(field)]
        for field in walked[:MAX_UNKNOWN_KEYS]:
            if (fault := refused(field, root, hints)) is not None:
                yield fault
        yield from bound_faults([(root, field) for field in walk_fields(models, value)])
        yield from placeholder_faults(models, value, root=root)
    if kind == "reinforcement":
        yield from reinforcement_faults(method_of(body).get(kind), f"method.{kind}")
        readable = readable_method(body)
        if readable is not None:
            yield from source_faults([(f"method.{kind}", readable)])


def _warnings(body: dict[str, Any], *, reported: set[str | None]) -> Iterator[PreflightIssue]:
    kind = method_type(body)
    hints = parameters_of(kind, method_of(body).get(kind))
    for models, root, value in _parts(body):
        walked = unread(_walked(models, root, value, reported), root, hints)
        keys = [key for key in walked if key.param not in reported]
        for key in keys[:MAX_UNKNOWN_KEYS]:
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param)
        if len(keys) > MAX_UNKNOWN_KEYS:
            message = f"Nothing reads {len(keys) - MAX_UNKNOWN_KEYS} more keys."
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, message, root or None)
    not_enforced = format_warning(method_of(body).get(kind)) if kind == "reinforcement" else None
    if not_enforced is not None:
        param = f"method.{kind}.response_format"
        yield PreflightIssue("warning", "response_format_not_enforced", f"{not_enforced}.", param)
    readable = readable_method(body)
    for found in () if readable is None else without_effect(readable, f"method.{kind}"):
        yield PreflightIssue("warning", found.code, f"{found.message}.", found.param)


def readable_method(body: dict[str, Any]) -> ReinforcementMethod | None:
    """Returns the method of a reinforcement job's call, `None` if it cannot be parsed."""
    if method_type(body) != "reinforcement":
        return None
    try:
        return ReinforcementMethod.model_validate(method_of(body).get("reinforcement"))
    except ValidationError:
        return None


def _walked(
    models: Models, root: str, value: Any, reported: set[str | None]
) -> Iterator[WalkedField]:
    """Yields the unknown keys outside objects whose `type` was reported."""
    for field in walk_fields(models, value):
        if field.kind is Kind.UNKNOWN and not _of_refused_type(field, root=root, reported=reported):
            yield field


def _parts(body: dict[str, Any]) -> list[tuple[Models, str, Any]]:
    """Returns the parts of a body that the domain reads, each with its models and its parameter."""
    kind = method_type(body)
    parts: list[tuple[Models, str, Any]] = [
        (METHOD_MODELS[kind], f"method.{kind}", method_of(body).get(kind))
    ]
    if kind == "supervised":
        deprecated = {"hyperparameters": body.get("hyperparameters")}
        parts.append((SupervisedMethod, "", deprecated))
    return parts


def _of_refused_type(field: WalkedField, *, root: str, reported: set[str | None]) -> bool:
    """Returns whether an object around the field has a `type` that was reported."""
    return any(
        parameter(root, (*field.path[:depth], "type")) in reported
        for depth in range(len(field.path))
    )
