"""Reads the parts of a create call's method, as far as they can be read."""

from typing import Any, Final, get_args

from pydantic import ValidationError

from app.jobs.learning import NothingToLearnOptions
from app.jobs.reinforcement import ReinforcementHyperparameters
from app.jobs.response_formats import ReasoningEffort
from app.jobs.supervised import MethodType, TrainOn
from app.tools.references import is_reference, plays_rows

_METHODS: Final[tuple[MethodType, ...]] = ("reinforcement", "supervised", "dpo")
_EFFORTS: Final = get_args(ReasoningEffort)
ROOT: Final = "method.reinforcement"


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


def reinforcement_of(method: dict[str, Any]) -> dict[str, Any]:
    inner = method.get("reinforcement")
    return inner if isinstance(inner, dict) else {}


def is_http(inner: dict[str, Any]) -> bool:
    """Returns whether the job calls the call's environment over HTTP. An unresolved reference
    counts, because only such environments are registered.
    """
    return plays_rows(inner.get("environment"))


def runs_calls(method: dict[str, Any]) -> bool:
    """Returns whether tools, MCP servers or an environment answer the calls of the policy."""
    return job_tools(method) is not None or is_http(reinforcement_of(method))


def job_tools(method: dict[str, Any]) -> frozenset[str] | None:
    """Returns the names of the job's tools, `None` for a job that lists none and no MCP server."""
    inner = reinforcement_of(method)
    tools = _listed(inner.get("tools"))
    if not tools and not _listed(inner.get("mcp_servers")):
        return None
    return frozenset(tool["name"] for tool in tools if isinstance(tool.get("name"), str))


def reasoning_effort(method: dict[str, Any]) -> str | None:
    """Returns the reasoning effort; `None` means the model's default, also for an invalid value,
    which validation reports.
    """
    hyper = reinforcement_of(method).get("hyperparameters")
    effort = hyper.get("reasoning_effort") if isinstance(hyper, dict) else None
    return effort if effort in _EFFORTS else None


def train_on(method: dict[str, Any]) -> TrainOn:
    """Returns the trained part of rows; `all` by default, also for an invalid value, which
    validation reports.
    """
    supervised = method.get("supervised")
    part = supervised.get("train_on") if isinstance(supervised, dict) else None
    return "last" if part == "last" else "all"


def reads_difficulty(method: dict[str, Any]) -> bool:
    """Returns whether the ordering of rows goes by their difficulty before they are played."""
    ordering = reinforcement_of(method).get("ordering")
    return isinstance(ordering, dict) and ordering.get("type") in ("easy_to_hard", "focus")


def no_room_share(method: dict[str, Any]) -> float | None:
    """Returns the share of prompts without room for an answer that ends the job; the default for
    an invalid value, which validation reports.
    """
    sent = reinforcement_of(method).get("nothing_to_learn")
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


def reinforcement_hyperparameters(inner: dict[str, Any]) -> ReinforcementHyperparameters | None:
    """Returns the hyperparameters of a reinforcement job, `None` for invalid ones."""
    sent = inner.get("hyperparameters")
    try:
        return ReinforcementHyperparameters.model_validate({} if sent is None else sent)
    except ValidationError:
        return None


def sent_hyperparameters(body: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the deprecated top-level hyperparameters and those of the supervised method, as
    sent.
    """
    supervised = method_of(body).get("supervised")
    newer = supervised.get("hyperparameters") if isinstance(supervised, dict) else None
    return body.get("hyperparameters"), newer


def merged_hyperparameters(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the hyperparameters of a supervised job; those inside the method take precedence."""
    sent = (each for each in sent_hyperparameters(body) if isinstance(each, dict))
    return {name: value for each in sent for name, value in each.items() if value is not None}


def has_validation(body: dict[str, Any]) -> bool:
    """Returns whether the call brings held-out rows; a registered curriculum may have some."""
    curriculum = body.get("curriculum")
    if body.get("validation_file") is not None or isinstance(curriculum, str):
        return True
    if is_reference(curriculum, "training"):
        return True
    return isinstance(curriculum, dict) and bool(curriculum.get("validation"))


def _listed(value: Any) -> list[dict[str, Any]]:
    """Returns the objects of a list; other items become empty objects, so positions stay valid."""
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]
