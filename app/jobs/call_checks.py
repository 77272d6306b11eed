"""Checks the JSON of a create call, valid or not: its faults, addresses, files and cost."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from app.graders.definitions import is_used, pattern_faults, unused_paths
from app.graders.kinds.python import python_graders, source_faults
from app.jobs.dataset_checks import GRADER_PARAM, auto_of
from app.jobs.integrations import (
    INTEGRATION_MODELS,
    INTEGRATIONS,
    integration_faults,
    sent_integrations,
)
from app.jobs.jobs import EVALS, JobRequest, TuningMethod, Usage
from app.jobs.method_faults import (
    MAX_UNKNOWN_KEYS,
    Definition,
    call_warnings,
    definition_faults,
    format_warning,
    overridden,
    reinforcement_faults,
    server_faults,
    suffix_warnings,
)
from app.jobs.methods import (
    METHOD_MODELS,
    ROOT,
    batch_size,
    has_validation,
    is_http,
    job_tools,
    merged_hyperparameters,
    method_of,
    method_type,
    no_room_share,
    parameters_of,
    reasoning_effort,
    reinforcement_hyperparameters,
    reinforcement_of,
    runs_calls,
    sent_hyperparameters,
    train_on,
)
from app.jobs.preflight import DatasetReport, Estimate, InspectionRequest, issue_of, row_needs
from app.jobs.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.jobs.supervised import SupervisedMethod
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.faults import UNKNOWN_PARAMETER, unread
from app.kit.fields import FieldKind, WalkedField, headers_of, parameter, value_of, walk_fields
from app.models.models import (
    BASE_MODEL_UNSUPPORTED,
    BaseModelSpec,
    base_of,
    is_tuned_name,
    student_named,
    unknown_model,
    unknown_student,
)
from app.rollouts.renderer import tool_use
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

_ASSUMED_FILL = 0.25
"""Assumed share of the context after the prompt that a rollout fills, for projects without history:
between a short answer and an agent that runs into the limit.
"""


@dataclass(frozen=True, slots=True)
class Pace:
    completion_tokens_per_rollout: float
    seconds_per_rollout: float
    """Wall time of a job, training included, divided by its rollouts."""
    jobs: int


def pace_of(used: Sequence[Usage]) -> Pace | None:
    rollouts = sum(usage.rollouts for usage in used)
    if not rollouts:
        return None
    return Pace(
        completion_tokens_per_rollout=sum(usage.completion_tokens for usage in used) / rollouts,
        seconds_per_rollout=sum(usage.training_time_s for usage in used) / rollouts,
        jobs=len(used),
    )


def estimate_of(
    new: JobRequest | None,
    base: BaseModelSpec | None,
    dataset: DatasetReport | None,
    *,
    pace: Pace | None,
    knows_jobs: bool = True,
) -> Estimate | None:
    if new is None or not isinstance(new.method, ReinforcementMethod) or dataset is None:
        return None
    training, validation = dataset.training, dataset.validation
    if base is None or training is None or validation is None:
        return None
    if not (training.rows and training.tokens and validation.tokens):
        return None
    hyper = resolve_hyperparameters(new.method, train_rows=training.rows, base_model=base)
    train_rollouts = training.rows * hyper.n_epochs * hyper.group_size
    # Evaluations: of the base model before the first step, after every interval, after the last.
    evaluations = 1 + -(-hyper.total_steps // hyper.eval_interval)
    # The report samples the published model and the one at the start once more.
    per_row = hyper.evaluation.rollouts_per_row * evaluations + 2 * hyper.evaluation.samples
    valid_rollouts = validation.rows * per_row
    rollouts = train_rollouts + valid_rollouts
    prompt_tokens = round(
        train_rollouts * training.tokens.mean + valid_rollouts * validation.tokens.mean
    )
    if pace is None:
        completion = _ASSUMED_FILL * max(0.0, base.context_length - training.tokens.mean)
        seconds = None if base.tokens_per_s is None else completion / base.tokens_per_s
    else:
        completion, seconds = pace.completion_tokens_per_rollout, pace.seconds_per_rollout
    return Estimate(
        total_steps=hyper.total_steps,
        train_rollouts=train_rollouts,
        validation_rollouts=valid_rollouts,
        prompt_tokens=prompt_tokens,
        completion_tokens=round(rollouts * completion),
        training_seconds=None if seconds is None else round(rollouts * seconds, 1),
        basis="assumption" if pace is None else "history",
        explanation=_explanation(pace, base.tokens_per_s, knows_jobs=knows_jobs),
    )


def _explanation(pace: Pace | None, tokens_per_s: float | None, *, knows_jobs: bool) -> str:
    if pace is not None:
        return (
            f"Tokens and time of a rollout are the means of the last {pace.jobs} finished job(s) "
            "of this project on this base model; slower tools or another worker change them."
        )
    why = "This project has no finished job on this base model: each" if knows_jobs else "Each"
    return (
        f"{why} rollout is assumed to fill {_ASSUMED_FILL:.0%} of the context behind its prompt, "
        "at the tokens per second configured for the base model"
        + ("." if tokens_per_s is not None else " (none are configured: time is unknown).")
    )


def model_fault(base: BaseModelSpec | None, *, runs_calls: bool) -> InvalidRequest | None:
    if base is None:
        return None
    message = f"Model {base.name} cannot be trained here: {base.refusal}"
    if base.refusal is None:
        fault = tool_use(base).fault if runs_calls else None
        if fault is None:
            return None
        instead = "Use another model, or a job without tools, MCP servers and environment."
        message = f"Model {base.name} {fault}. {instead}"
    return InvalidRequest(message, param="model", code=BASE_MODEL_UNSUPPORTED)


def base_model(
    body: dict[str, Any], base_models: tuple[BaseModelSpec, ...], issues: list[PreflightIssue]
) -> BaseModelSpec | None:
    name = body.get("model")
    if not isinstance(name, str):
        return None
    base = base_of(base_models, name)
    if base is None:
        student = student_named(name)
        message = unknown_student(student) if student else unknown_model(name, base_models)
        issues.append(PreflightIssue("error", "model_not_available", message, "model"))
    return base


def inspection_request(
    body: dict[str, Any],
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    sample_rows: int = 0,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> InspectionRequest:
    method, kind = method_of(body), method_type(body)
    request = InspectionRequest(
        method=kind,
        training=training,
        validation=validation,
        job_tools=job_tools(method),
        base_model=base,
        reasoning_effort=reasoning_effort(method),
        train_on=train_on(method),
        batch_size=batch_size(body),
        sample_rows=sample_rows,
        shared_tools=shared_tools,
        names_method=body.get("method") is not None,
    )
    if kind != "reinforcement":
        return request
    inner = reinforcement_of(method)
    ordering = inner.get("ordering")
    return replace(
        request,
        reads_difficulty=value_of(ordering, "type") in ("easy_to_hard", "focus"),
        needs=row_needs(method.get(kind), ROOT),
        calls_answered=is_http(inner),
        no_room_share=no_room_share(method),
        hyperparameters=reinforcement_hyperparameters(inner),
    )


@dataclass(frozen=True, slots=True)
class CalledAddress:
    param: str
    name: str
    url: str
    headers: dict[str, str]
    is_used: bool
    """False for a part that the formula does not use: checked, but not probed."""


def called_addresses(method: dict[str, Any]) -> list[CalledAddress]:
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
    unused = unused_paths(reinforcement_of(method))
    for field in called_fields(method):
        if field.kind is kind and is_used(field.path, unused):
            yield parameter(ROOT, field.path), field.value


def called_fields(method: dict[str, Any]) -> Iterator[WalkedField]:
    """Leaves out a grader derived from its environment, and an unused environment's grader."""
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
    try:
        environment = read_environment(inner.get("environment"))
    except ValueError:  # pydantic raises its two kinds
        return False
    return inner.get("grader") is not None and not is_graded_by(environment, inner["grader"])


def _name(field: WalkedField) -> str:
    name = field.owner.get("name")
    if isinstance(name, str):
        return name
    return {"tools": "tool", "environment": "environment"}.get(str(field.path[0]), "grader")


def call_issues(
    body: dict[str, Any], base: BaseModelSpec | None, *, reported: Collection[str | None]
) -> list[PreflightIssue]:
    """Returns errors, then warnings. Parameters in `reported` have an error already."""
    found, known, kind = list[PreflightIssue](), set(reported), method_type(body)
    sent = method_of(body).get(kind)
    parts = [Definition.of_json(f"method.{kind}", METHOD_MODELS[kind], sent)]
    if kind == "supervised":
        deprecated = {"hyperparameters": body.get("hyperparameters")}
        parts.append(Definition.of_json("", SupervisedMethod, deprecated))
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

    integrations = sent_integrations(body)
    yield from integration_faults(integrations)
    trackers = [
        Definition.of_json(f"{INTEGRATIONS}[{position}]", INTEGRATION_MODELS, one)
        for position, one in enumerate(integrations)
    ]
    yield from definition_faults(trackers, read=is_read)
    yield from definition_faults(
        parts, elsewhere=parameters_of(kind, method.get(kind)), read=is_read, called=is_called
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
    method = _readable(body)
    return method if isinstance(method, ReinforcementMethod) else None


def _readable(body: dict[str, Any]) -> TuningMethod | None:
    kind = method_type(body)
    sent = method_of(body).get(kind)
    if kind == "supervised" and isinstance(sent, dict | None):
        sent = {**(sent or {}), "hyperparameters": merged_hyperparameters(body)}
    try:
        return METHOD_MODELS[kind].model_validate({} if sent is None else sent)
    except ValidationError:
        return None


def _of_refused_type(field: WalkedField, *, root: str, reported: Collection[str | None]) -> bool:
    return any(
        parameter(root, (*field.path[:depth], "type")) in reported
        for depth in range(len(field.path))
    )


NOT_CHECKED: Final = "not_checked"
_MOST: Final = 200
_REGISTERED: Final = "the registered object that this names, and the faults of its definition"
_ADDRESS: Final = "whether the service may call this address, and whether it answers"
_FILE: Final = "the file of the service that this names, and its rows"


def unchecked_parts(body: dict[str, Any], files: dict[str, Path | None]) -> list[PreflightIssue]:
    found = islice(_parts_checks(body, files), _MOST)
    return [
        PreflightIssue("warning", NOT_CHECKED, f"Not checked on this machine: {what}.", param)
        for param, what in found
    ]


def _parts_checks(body: dict[str, Any], files: dict[str, Path | None]) -> Iterator[tuple[str, str]]:
    model = body.get("model")
    if isinstance(model, str) and is_tuned_name(model):
        yield "model", "whether the project has this tuned model"
    if isinstance(model, str) and student_named(model) is not None:
        yield "model", "whether the project has this student, and the model that answers for it"
    for param, path in files.items():
        if path is None and isinstance(body.get(param), str):
            yield param, _FILE
    curriculum = body.get("curriculum")
    if isinstance(curriculum, str) or is_reference(curriculum, "training"):
        yield "curriculum", _REGISTERED
    yield from _integrations(body)
    evals = body.get(EVALS)
    for position in range(len(evals) if isinstance(evals, list) else 0):
        yield f"{EVALS}[{position}]", "the eval of the service that this names, and its data source"
    method = method_of(body)
    yield from _references(reinforcement_of(method))
    yield from _rows(body, files)
    yield from ((address.param, _ADDRESS) for address in called_addresses(method))
    servers = reinforcement_of(method).get("mcp_servers")
    for index in range(len(servers) if isinstance(servers, list) else 0):
        yield (
            f"{ROOT}.mcp_servers[{index}].server_url",
            "whether the service may call this MCP server, and the tools that it lists",
        )
    yield from (
        (param, "whether the service has this model")
        for param, _ in called_models(method, FieldKind.JUDGE)
    )
    yield from (
        (param, "whether the service has an embedding model, which this measure needs")
        for param, _ in called_models(method, FieldKind.EMBEDDING)
    )
    readable = readable_method(body)
    for at, _ in () if readable is None else python_graders(readable):
        yield (
            parameter(ROOT, (*at, "source")),
            "whether this code has a score for the rows: a service tries it in its sandbox",
        )


def _integrations(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for position, one in enumerate(sent_integrations(body)):
        root = f"{INTEGRATIONS}[{position}]"
        yield f"{root}.type", "whether the service has the library of this tracker"
        for field in walk_fields(INTEGRATION_MODELS, one):
            if field.kind is FieldKind.ADDRESS:
                yield parameter(root, field.path), _ADDRESS


def _rows(body: dict[str, Any], files: dict[str, Path | None]) -> Iterator[tuple[str, str]]:
    environment = reinforcement_of(method_of(body)).get("environment")
    if isinstance(environment, dict) and is_service_file(environment.get("file")):
        yield FILE_PARAM, _FILE
        yield f"{PARAM}.training_tasks", "whether the service's file has as many problems as tasks"
    if auto_of(body) is not None and files.get("training_file") is None:
        yield (
            GRADER_PARAM,
            "the grader that 'auto' stands for, which the rows of the service's file decide",
        )


def is_service_file(name: object) -> bool:
    return isinstance(name, str) and name.startswith("file-") and not Path(name).is_file()


def _references(inner: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tools = inner.get("tools")
    found = [
        f"{ROOT}.tools[{index}]"
        for index, tool in enumerate(tools if isinstance(tools, list) else ())
        if is_reference(tool, "server_url")
    ]
    if found:
        yield (
            f"{ROOT}.tools",
            "whether two tools have one name: those of registered tools are not known",
        )
    yield from ((param, _REGISTERED) for param in found)
    if is_reference(inner.get("grader"), "type"):
        yield f"{ROOT}.grader", _REGISTERED
    environment = inner.get("environment")
    named = isinstance(environment, str) and not is_built_in_name(environment)
    if named or is_reference(environment, "type"):
        yield PARAM, _REGISTERED
