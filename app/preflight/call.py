"""Inspects the body of a create call without a database: model, tools, addresses, cost.

Accepts bodies that fail validation, so that one report can contain every fault.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, assert_never, get_args

from pydantic import ValidationError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import Kind, WalkedField, headers_of, walk_fields
from app.domain.environments.environments import is_graded_by, read_environment
from app.domain.environments.http import HTTP
from app.domain.graders.graders import is_used, unused_paths
from app.domain.jobs.preflight import DatasetQuestion, DatasetReport, Estimate
from app.domain.jobs.requests import JobRequest
from app.domain.jobs.row_needs import NO_NEEDS, row_needs
from app.domain.methods.no_effect import NoEffect, without_calls
from app.domain.methods.nothing_to_learn import NothingToLearnOptions
from app.domain.methods.reasoning_efforts import ReasoningEffort
from app.domain.methods.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod, TrainOn
from app.domain.models.models import BaseModelSpec, base_of
from app.domain.preflight_issues import PreflightIssue
from app.domain.registry.references import is_reference
from app.preflight.estimate import Pace, estimate

_METHODS: Final[tuple[MethodType, ...]] = ("reinforcement", "supervised", "dpo")
_EFFORTS: Final = get_args(ReasoningEffort)
_ROOT: Final = "method.reinforcement"


@dataclass(frozen=True, slots=True)
class CalledAddress:
    """An address of the customer that the job would call."""

    param: str
    name: str
    url: str
    headers: dict[str, str]
    is_used: bool
    """False for an unused part of a grader: its address is checked but not probed."""


def base_model(
    body: dict[str, Any], base_models: tuple[BaseModelSpec, ...], issues: list[PreflightIssue]
) -> BaseModelSpec | None:
    """Returns the base model of the call, or the base of the tuned model that it names. An unknown
    name adds an issue.
    """
    name = body.get("model")
    if not isinstance(name, str):
        return None
    base = base_of(base_models, name)
    if base is None:
        message = f"Model {name} is not available for fine-tuning or does not exist."
        issues.append(PreflightIssue("error", "model_not_available", message, "model"))
    return base


def method_of(body: dict[str, Any]) -> dict[str, Any]:
    method = body.get("method")
    return method if isinstance(method, dict) else {}


def method_type(body: dict[str, Any]) -> MethodType:
    """Returns the training method of a call. For an unknown type, which is reported elsewhere, it
    is the method whose settings the call contains, so that its files can be checked.
    """
    method = method_of(body)
    named = method.get("type")
    return (
        next((kind for kind in _METHODS if kind == named), None)
        or next((kind for kind in _METHODS if kind in method), None)
        or "supervised"
    )


def means_method(body: dict[str, Any]) -> bool:
    """Returns false for a call with an unknown method and without settings of a known one, so that
    the format of its rows is unknown.
    """
    method = method_of(body)
    return method.get("type") in (None, *_METHODS) or any(kind in method for kind in _METHODS)


def estimate_of(
    new: JobRequest | None,
    base: BaseModelSpec | None,
    dataset: DatasetReport | None,
    *,
    pace: Pace | None,
) -> Estimate | None:
    """Estimates the cost; `None` if the call or its dataset is unusable, or for other methods."""
    if base is None or dataset is None or dataset.training is None or not dataset.training.rows:
        return None
    match None if new is None else new.method:
        case ReinforcementMethod() as method:
            hyper = resolve_hyperparameters(
                method, train_rows=dataset.training.rows, base_model=base
            )
            return estimate(
                hyper,
                dataset,
                context_length=base.context_length,
                pace=pace,
                tokens_per_s=base.tokens_per_s,
            )
        case SupervisedMethod() | DpoMethod() | None:
            return None
        case method:
            assert_never(method)


def job_tools(method: dict[str, Any]) -> frozenset[str] | None:
    """Returns the names of the job's tools, `None` for a job that lists none and no MCP server."""
    inner = _reinforcement(method)
    tools = _listed(inner.get("tools"))
    if not tools and not _listed(inner.get("mcp_servers")):
        return None
    return frozenset(tool["name"] for tool in tools if isinstance(tool.get("name"), str))


def reasoning_effort(method: dict[str, Any]) -> str | None:
    """Returns the reasoning effort; `None` means the model's default, also for an invalid value,
    which validation reports.
    """
    hyper = _reinforcement(method).get("hyperparameters")
    effort = hyper.get("reasoning_effort") if isinstance(hyper, dict) else None
    return effort if effort in _EFFORTS else None


def train_on(method: dict[str, Any]) -> TrainOn:
    """Returns the trained part of rows; `all` by default, also for an invalid value, which
    validation reports.
    """
    supervised = method.get("supervised")
    part = supervised.get("train_on") if isinstance(supervised, dict) else None
    return "last" if part == "last" else "all"


def no_room_share(method: dict[str, Any]) -> float | None:
    """Returns the share of prompts without room for an answer that ends the job; the default for
    an invalid value, which validation reports.
    """
    sent = _reinforcement(method).get("nothing_to_learn")
    try:
        options = NothingToLearnOptions.model_validate({} if sent is None else sent)
    except ValidationError:
        options = NothingToLearnOptions()
    return options.ending_share


def batch_size(body: dict[str, Any]) -> int | None:
    """Returns the batch size; `None` for `auto` and for an invalid value."""
    inner = method_of(body).get(method_type(body))
    for sent in (
        inner.get("hyperparameters") if isinstance(inner, dict) else None,
        body.get("hyperparameters"),
    ):
        size = sent.get("batch_size") if isinstance(sent, dict) else None
        if isinstance(size, int) and not isinstance(size, bool):
            return size
    return None


def dataset_question(
    body: dict[str, Any],
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    sample_rows: int = 0,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> DatasetQuestion:
    """Returns the files of a call, and all settings that affect the check of their rows."""
    method, kind = method_of(body), method_type(body)
    needs = NO_NEEDS
    unused: tuple[NoEffect, ...] = ()
    played = False
    full: float | None = None
    match kind:
        case "reinforcement":
            needs = row_needs(method.get(kind), _ROOT)
            played = _is_http(_reinforcement(method))
            unused = () if played else tuple(without_calls(method.get(kind), _ROOT))
            full = no_room_share(method)
        case "supervised" | "dpo":
            pass
        case _:
            assert_never(kind)
    return DatasetQuestion(
        method=kind,
        training=training,
        validation=validation,
        job_tools=job_tools(method),
        calls_answered=played,
        base_model=base,
        reasoning_effort=reasoning_effort(method),
        train_on=train_on(method),
        needs=needs,
        batch_size=batch_size(body),
        without_calls=unused,
        no_room_share=full,
        sample_rows=sample_rows,
        shared_tools=shared_tools,
        names_method=body.get("method") is not None,
    )


def called_addresses(method: dict[str, Any]) -> list[CalledAddress]:
    """Returns tools, then graders with an address, at any depth and even if the rest of the call is
    invalid; no MCP servers, whose tools are listed instead.
    """
    unused = unused_paths(_reinforcement(method))
    found = [
        CalledAddress(
            param=parameter(_ROOT, field.path),
            name=_name(field),
            url=field.value,
            headers={str(name): str(value) for name, value in (headers_of(field) or {}).items()},
            is_used=is_used(field.path, unused),
        )
        for field in _called(method)
        if field.kind is Kind.ADDRESS and field.path[0] != "mcp_servers"
    ]
    return sorted(found, key=lambda address: not address.param.startswith(f"{_ROOT}.tools"))


def needed(method: dict[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    """Yields parameter and value of each judge or embedding, except in parts that never run."""
    unused = unused_paths(_reinforcement(method))
    for field in _called(method):
        if field.kind is kind and is_used(field.path, unused):
            yield parameter(_ROOT, field.path), field.value


def _called(method: dict[str, Any]) -> Iterator[WalkedField]:
    """Yields the fields of a method, except those of a grader derived from its environment, which
    are reported there, and those of an environment whose grader the job does not use.
    """
    inner = _reinforcement(method)
    if _is_http(inner):
        yield from walk_fields(ReinforcementMethod, inner)
        return
    doubled = "environment" if _has_own_grader(inner) else "grader"
    environment = inner.get("environment")
    sent = environment if isinstance(environment, dict) else {}
    for field in walk_fields(ReinforcementMethod, inner):
        is_sent = field.path[0] == "environment" or sent.get(str(field.path[-1])) == field.value
        if field.path[0] != doubled or not is_sent:
            yield field


def _is_http(inner: dict[str, Any]) -> bool:
    """Returns whether the job calls the call's environment over HTTP. An unresolved reference
    counts, because only such environments are registered.
    """
    environment = inner.get("environment")
    return isinstance(environment, dict) and (
        environment.get("type") == HTTP or is_reference(environment, "type")
    )


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


def _reinforcement(method: dict[str, Any]) -> dict[str, Any]:
    inner = method.get("reinforcement")
    return inner if isinstance(inner, dict) else {}


def _listed(value: Any) -> list[dict[str, Any]]:
    """Returns the objects of a list; other items become empty objects, so positions stay valid."""
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]
