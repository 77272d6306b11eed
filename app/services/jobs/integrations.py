"""Checks the integrations of a new job, and writes the notices about those that are local.

Owns the refusals: a library that is not installed, a second integration for TensorBoard, an address
that may not be called. Must not know how a tracker is written.
"""

from typing import assert_never

from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest
from app.domain.jobs.integrations import (
    LIBRARIES,
    TrackerKind,
    is_local,
    local_directory,
    read_integration,
    trackers_of,
)
from app.domain.jobs.jobs import Job
from app.gateways.egress.egress import Egress
from app.gateways.trackers import is_installed
from app.services.models.judge_models import JudgeModels
from app.services.registry.definition_check import check_definitions


async def check_integrations(
    integrations: list[Json], *, egress: Egress, models: JudgeModels
) -> None:
    """Raises `InvalidRequest` for an integration that this installation cannot write."""
    _check_libraries(integrations)
    sent = [
        (f"integrations[{position}]", read_integration(one))
        for position, one in enumerate(integrations)
    ]
    if sent:
        await check_definitions(sent, egress=egress, models=models)


def integration_notices(job: Job) -> list[str]:
    """Returns a message for each integration that is written to the installation's directory."""
    return [
        f"Writing curves for {LIBRARIES[kind].title} to "
        f"{local_directory(kind, position, project_id=job.project_id, job_id=job.id)} in the "
        "installation's directory of trackers"
        for position, kind in trackers_of(job.integrations)
        if is_local(job.integrations[position])
    ]


def _check_libraries(integrations: list[Json]) -> None:
    named = set[TrackerKind]()
    for position, kind in trackers_of(integrations):
        param, library = f"integrations[{position}].type", LIBRARIES[kind]
        if kind in named and not _may_repeat(kind):
            raise InvalidRequest(
                f"'{kind}' is named twice in 'integrations'. Send it once.",
                param=param,
                code="invalid_value",
            )
        if not is_installed(kind):
            raise InvalidRequest(
                f"This installation lacks the library of {library.title}. Its operator installs it "
                f"for API and workers: pip install 'agent-rft[{library.extra}]'",
                param=param,
                code="integration_not_installed",
            )
        named.add(kind)


def _may_repeat(kind: TrackerKind) -> bool:
    """Returns whether two integrations of a kind may differ in where they are written."""
    match kind:
        case "tensorboard":
            return False
        case "wandb" | "mlflow" | "trackio":
            return True
        case _:
            assert_never(kind)
