"""Finds the addresses of a registered object and the jobs that call them. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never
from urllib.parse import urlsplit

from app.domain.documents.walk import FieldKind, Models, walk_fields
from app.domain.environments.http import HttpEnvironmentSpec
from app.domain.graders.graders import GRADER_MODELS
from app.domain.jobs.jobs import Job
from app.domain.registry.registered_objects import Noun, RegisteredVersion
from app.domain.rollouts import metrics as names
from app.domain.tools.tools import ToolSpec

_TOOL_CURVES: Final = (
    ("calls", "Calls", "mean a rollout", "calls_mean"),
    ("errors", "Errors", "calls a step", "errors"),
    ("latency", "Latency", "mean s a call", "latency_s_mean"),
)
_GRADER_CURVES: Final = (("errors", "Errors", "share of answers", names.GRADER_ERROR_SHARE),)
_ENVIRONMENT_CURVES: Final = (
    ("calls", "Steps", "mean a rollout", names.ENVIRONMENT_STEPS_MEAN),
    ("errors", "Errors", "calls a step", names.ENVIRONMENT_ERRORS),
    ("latency", "Latency", "mean s a step", names.ENVIRONMENT_LATENCY_MEAN),
)
UseCurve = tuple[str, str, str, str]
"""Id, title and unit of a chart, and the name of its curve."""


def use_curves(registered: RegisteredVersion) -> tuple[UseCurve, ...]:
    """Returns the curves of jobs that measure the calls of an object. Those of a tool have its
    name in theirs; the others are about the only grader or environment of a job.
    """
    match registered.noun:
        case Noun.TOOL:
            return tuple(
                (chart, title, unit, names.tool_metric(registered.name, metric))
                for chart, title, unit, metric in _TOOL_CURVES
            )
        case Noun.GRADER:
            return _GRADER_CURVES
        case Noun.ENVIRONMENT:
            return _ENVIRONMENT_CURVES
        case Noun.CURRICULUM | Noun.RECIPE:
            return ()
        case _:
            assert_never(registered.noun)


def addresses(registered: RegisteredVersion) -> list[str]:
    """Returns the addresses of an object in their shown form, without duplicates."""
    return list(dict.fromkeys(_addresses(_models(registered.noun), registered.definition)))


def hosts(called: Sequence[str]) -> list[str]:
    """Returns the hosts of addresses, each with its port, without duplicates."""
    found = (urlsplit(one).netloc.rpartition("@")[2] for one in called)
    return list(dict.fromkeys(found))


def users(registered: RegisteredVersion, jobs: Sequence[Job], own: Collection[str]) -> list[Job]:
    """Returns the jobs that were created with an object, or with one of its addresses."""
    return [job for job in jobs if _uses(job, registered, own)]


def _models(noun: Noun) -> Models:
    match noun:
        case Noun.TOOL:
            return ToolSpec
        case Noun.GRADER:
            return GRADER_MODELS
        case Noun.ENVIRONMENT:
            return HttpEnvironmentSpec
        case Noun.CURRICULUM | Noun.RECIPE:
            return ()
        case _:
            assert_never(noun)


def _addresses(models: Models, definition: Any) -> Iterator[str]:
    for field in walk_fields(models, definition):
        if field.kind is FieldKind.ADDRESS and isinstance(field.value, str):
            yield field.value


def _uses(job: Job, registered: RegisteredVersion, own: Collection[str]) -> bool:
    used = list(_definitions(job.method.options, registered))
    if any(one.get("id") == registered.id for one in used):
        return True
    models = _models(registered.noun)
    # A definition with an id is another registered object, even where both have one address.
    unnamed = (one for one in used if not one.get("id"))
    return any(address in own for one in unnamed for address in _addresses(models, one))


def _definitions(
    options: Mapping[str, Any], registered: RegisteredVersion
) -> Iterator[dict[str, Any]]:
    """Yields the definitions of a job that may be the object."""
    match registered.noun:
        case Noun.TOOL:
            for tool in options.get("tools") or ():
                if tool.get("name") == registered.name:
                    yield tool
            for server in options.get("mcp_servers") or ():
                if registered.name in (server.get("allowed_tools") or (registered.name,)):
                    yield {"name": registered.name, "server_url": server.get("server_url")}
        case Noun.GRADER:
            yield options.get("grader") or {}
        case Noun.ENVIRONMENT:
            yield options.get("environment") or {}
        case Noun.CURRICULUM | Noun.RECIPE:
            return
        case _:
            assert_never(registered.noun)
