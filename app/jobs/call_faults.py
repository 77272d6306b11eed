"""Finds the addresses and models that the job of a create call would call.

Accepts bodies that fail validation, so that one report can contain every fault.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, assert_never

from pydantic import ValidationError

from app.graders.definitions import is_used, pattern_faults, unused_paths
from app.graders.kinds.python import python_graders, source_faults
from app.jobs.call_checks import model_fault
from app.jobs.definition_checks import MAX_UNKNOWN_KEYS, Definition, definition_faults
from app.jobs.grader_choice import GRADER_PARAM, auto_of
from app.jobs.integrations import (
    INTEGRATION_MODELS,
    INTEGRATIONS,
    integration_faults,
    sent_integrations,
)
from app.jobs.jobs import EVALS, TuningMethod
from app.jobs.method_faults import format_warning, reinforcement_faults, server_faults
from app.jobs.method_parts import (
    ROOT,
    has_validation,
    is_http,
    merged_hyperparameters,
    method_of,
    method_type,
    reinforcement_of,
    runs_calls,
    sent_hyperparameters,
)
from app.jobs.methods import METHOD_MODELS, parameters_of
from app.jobs.preflight import issue_of
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.jobs.warnings import call_warnings, overridden, suffix_warnings
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.faults import UNKNOWN_PARAMETER, unread
from app.kit.fields import FieldKind, WalkedField, headers_of, parameter, value_of, walk_fields
from app.models.models import BaseModelSpec, is_tuned_name, student_named
from app.tools.environments import (
    FILE_PARAM,
    PARAM,
    is_built_in_name,
    is_graded_by,
    read_environment,
)
from app.tools.mcp_listings import is_served, served_faults
from app.tools.references import is_reference
from app.tools.tools import LABEL


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
        yield from pattern_faults([(ROOT, readable)])
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
    if method is not None:
        found += call_warnings(
            method,
            has_validation=has_validation(body),
            has_rollout_cap=body.get("max_rollouts") is not None,
        )
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


NOT_CHECKED: Final = "not_checked"
_MOST: Final = 200
_REGISTERED: Final = "the registered object that this names, and the faults of its definition"
_ADDRESS: Final = "whether the service may call this address, and whether it answers"
_LISTING: Final = "whether the service may call this MCP server, and the tools that it lists"
_JUDGE: Final = "whether the service has this model"
_EMBEDDINGS: Final = "whether the service has an embedding model, which this measure needs"
_CODE: Final = "whether this code has a score for the rows: a service tries it in its sandbox"
_FILE: Final = "the file of the service that this names, and its rows"
_CHOICE: Final = "the grader that 'auto' stands for, which the rows of the service's file decide"
_NAMES: Final = "whether two tools have one name: those of registered tools are not known"
_PROBLEMS: Final = "whether the service's file has as many problems as tasks"
_TUNED: Final = "whether the project has this tuned model"
_EVAL: Final = "the eval of the service that this names, and its data source"
_STUDENT: Final = "whether the project has this student, and the model that answers for it"
_LIBRARY: Final = "whether the service has the library of this tracker"


def unchecked_parts(body: dict[str, Any], files: dict[str, Path | None]) -> list[PreflightIssue]:
    """Returns a warning for each part of a call that is not checked. `files` are those on this
    machine, by their parameter.
    """
    found = islice(_parts_checks(body, files), _MOST)
    return [
        PreflightIssue("warning", NOT_CHECKED, f"Not checked on this machine: {what}.", param)
        for param, what in found
    ]


def _parts_checks(body: dict[str, Any], files: dict[str, Path | None]) -> Iterator[tuple[str, str]]:
    model = body.get("model")
    if isinstance(model, str) and is_tuned_name(model):
        yield "model", _TUNED
    if isinstance(model, str) and student_named(model) is not None:
        yield "model", _STUDENT
    for param, path in files.items():
        if path is None and isinstance(body.get(param), str):
            yield param, _FILE
    curriculum = body.get("curriculum")
    if isinstance(curriculum, str) or is_reference(curriculum, "training"):
        yield "curriculum", _REGISTERED
    yield from _integrations(body)
    evals = body.get(EVALS)
    for position in range(len(evals) if isinstance(evals, list) else 0):
        yield f"{EVALS}[{position}]", _EVAL
    method = method_of(body)
    yield from _references(reinforcement_of(method))
    yield from _rows(body, files)
    yield from ((address.param, _ADDRESS) for address in called_addresses(method))
    servers = reinforcement_of(method).get("mcp_servers")
    for index in range(len(servers) if isinstance(servers, list) else 0):
        yield f"{ROOT}.mcp_servers[{index}].server_url", _LISTING
    yield from ((param, _JUDGE) for param, _ in called_models(method, FieldKind.JUDGE))
    yield from ((param, _EMBEDDINGS) for param, _ in called_models(method, FieldKind.EMBEDDING))
    readable = readable_method(body)
    for at, _ in () if readable is None else python_graders(readable):
        yield parameter(ROOT, (*at, "source")), _CODE


def _integrations(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for position, one in enumerate(sent_integrations(body)):
        root = f"{INTEGRATIONS}[{position}]"
        yield f"{root}.type", _LIBRARY
        for field in walk_fields(INTEGRATION_MODELS, one):
            if field.kind is FieldKind.ADDRESS:
                yield parameter(root, field.path), _ADDRESS


def _rows(body: dict[str, Any], files: dict[str, Path | None]) -> Iterator[tuple[str, str]]:
    """Yields what only the rows of a service's files decide."""
    environment = reinforcement_of(method_of(body)).get("environment")
    if isinstance(environment, dict) and is_service_file(environment.get("file")):
        yield FILE_PARAM, _FILE
        yield f"{PARAM}.training_tasks", _PROBLEMS
    if auto_of(body) is not None and files.get("training_file") is None:
        yield GRADER_PARAM, _CHOICE


def is_service_file(name: object) -> bool:
    """Returns whether a text is the id of a file of a service, not a file on this machine."""
    return isinstance(name, str) and name.startswith("file-") and not Path(name).is_file()


def _references(inner: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tools = inner.get("tools")
    found = [
        f"{ROOT}.tools[{index}]"
        for index, tool in enumerate(tools if isinstance(tools, list) else ())
        if is_reference(tool, "server_url")
    ]
    if found:
        yield f"{ROOT}.tools", _NAMES
    yield from ((param, _REGISTERED) for param in found)
    if is_reference(inner.get("grader"), "type"):
        yield f"{ROOT}.grader", _REGISTERED
    environment = inner.get("environment")
    named = isinstance(environment, str) and not is_built_in_name(environment)
    if named or is_reference(environment, "type"):
        yield PARAM, _REGISTERED
