"""Names the parts of a call that only a service can check, for a check without one.

Promises: a call that a service refuses has a fault in the list of `app.preflight.call_faults`, in
its rows, or at or below a parameter that is named here. Quotas are no part of a call.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, walk_fields
from app.domain.environments.environments import FILE_PARAM, PARAM, is_built_in_name
from app.domain.faults.issues import PreflightIssue
from app.domain.graders.source_faults import python_graders
from app.domain.jobs.attached_evals import EVALS
from app.domain.jobs.creation.integration_faults import sent_integrations
from app.domain.jobs.integrations import INTEGRATION_MODELS, INTEGRATIONS
from app.domain.models.models import is_tuned_name
from app.domain.registry.references import is_reference
from app.domain.students.students import student_named
from app.preflight.addresses import called_addresses, called_models
from app.preflight.call_faults import readable_method
from app.preflight.grader_choice import GRADER_PARAM, auto_of
from app.preflight.method_parts import ROOT, method_of, reinforcement_of

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
    found = islice(_parts(body, files), _MOST)
    return [
        PreflightIssue("warning", NOT_CHECKED, f"Not checked on this machine: {what}.", param)
        for param, what in found
    ]


def _parts(body: dict[str, Any], files: dict[str, Path | None]) -> Iterator[tuple[str, str]]:
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
