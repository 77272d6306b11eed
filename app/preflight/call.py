"""A create call as sent, looked over without a database: model, tools, addresses, cost.

Works on bodies that do not validate as well, so that every fault can be told at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, assert_never, get_args

from app.domain.jobs.jobs import NewJob
from app.domain.jobs.preflight import DatasetReport, Estimate, PreflightIssue
from app.domain.methods.reasoning_efforts import ReasoningEffort
from app.domain.methods.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod, TrainOn
from app.domain.models.models import BaseModelSpec, base_of
from app.domain.secrets.pointers import parameter
from app.domain.secrets.walk import Kind, Place, headers_of, places
from app.preflight.estimate import Pace, estimate

_METHODS: Final[tuple[MethodType, ...]] = ("reinforcement", "supervised", "dpo")
_EFFORTS: Final = get_args(ReasoningEffort)
_ROOT: Final = "method.reinforcement"


@dataclass(frozen=True, slots=True)
class CalledAddress:
    """An address of the customer's that the job would call."""

    param: str
    name: str
    url: str
    headers: dict[str, str]


def base_model(
    body: dict[str, Any], base_models: tuple[BaseModelSpec, ...], findings: list[PreflightIssue]
) -> BaseModelSpec | None:
    """The base model of the call, or of the tuned one that it names; a name that nobody offers
    becomes a finding.
    """
    name = body.get("model")
    if not isinstance(name, str):
        return None
    base = base_of(base_models, name)
    if base is None:
        message = f"Model {name} is not available for fine-tuning or does not exist."
        findings.append(PreflightIssue("error", "model_not_available", message, "model"))
    return base


def method_of(body: dict[str, Any]) -> dict[str, Any]:
    method = body.get("method")
    return method if isinstance(method, dict) else {}


def method_type(body: dict[str, Any]) -> MethodType:
    """Returns the training method of a call. An unknown type is reported elsewhere; its files are
    checked as those of the method that is spelled out.
    """
    method = method_of(body)
    sent = method.get("type", "supervised")
    return (
        next((kind for kind in _METHODS if kind == sent), None)
        or next((kind for kind in _METHODS if kind in method), None)
        or "supervised"
    )


def estimate_of(
    new: NewJob | None,
    base: BaseModelSpec | None,
    dataset: DatasetReport | None,
    *,
    pace: Pace | None,
) -> Estimate | None:
    """`None` where the call cannot be read or is no reinforcement job."""
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


def tool_names(method: dict[str, Any]) -> Iterator[str]:
    for tool in _listed(_reinforcement(method).get("tools")):
        if isinstance(tool.get("name"), str):
            yield tool["name"]


def reasoning_effort(method: dict[str, Any]) -> str | None:
    """`None` where it is the model's own default; a wrong one is another's finding."""
    sent = _reinforcement(method).get("hyperparameters")
    effort = sent.get("reasoning_effort") if isinstance(sent, dict) else None
    return effort if effort in _EFFORTS else None


def train_on(method: dict[str, Any]) -> TrainOn:
    """`all` where the call does not say; a wrong one is another's finding."""
    sent = method.get("supervised")
    wanted = sent.get("train_on") if isinstance(sent, dict) else None
    return "last" if wanted == "last" else "all"


def called_addresses(method: dict[str, Any]) -> list[CalledAddress]:
    """Tools, then graders with an address, however deep and however wrong the rest of the call."""
    found = [
        CalledAddress(
            param=parameter(_ROOT, place.path),
            name=_name(place),
            url=place.value,
            headers={str(name): str(value) for name, value in (headers_of(place) or {}).items()},
        )
        for place in places(ReinforcementMethod, _reinforcement(method))
        if place.kind is Kind.ADDRESS
    ]
    return sorted(found, key=lambda one: not one.param.startswith(f"{_ROOT}.tools"))


def judge_models(method: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Parameter and model of each model grader that leaves it to the service to find the model."""
    for place in places(ReinforcementMethod, _reinforcement(method)):
        if place.kind is Kind.JUDGE:
            yield parameter(_ROOT, place.path), place.value


def _name(place: Place) -> str:
    name = place.owner.get("name")
    if isinstance(name, str):
        return name
    return "tool" if place.path[0] == "tools" else "grader"


def _reinforcement(method: dict[str, Any]) -> dict[str, Any]:
    inner = method.get("reinforcement")
    return inner if isinstance(inner, dict) else {}


def _listed(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; positions of others are kept as empty objects."""
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]
