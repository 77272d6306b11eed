"""Checks the integrations of a new job, and writes the notices about those that are local.

Owns the refusals that take a look-up: a library that is not installed, an address that may not be
called. All others are in the one list of `app.preflight.call_faults`. Must not know how a tracker
is written.
"""

from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest
from app.domain.jobs.creation.integration_faults import integration_faults
from app.domain.jobs.integrations import (
    INTEGRATIONS,
    LIBRARIES,
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
    for fault in integration_faults(integrations):
        raise fault
    _check_libraries(integrations)
    sent = [
        (f"{INTEGRATIONS}[{position}]", read_integration(one))
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
    for position, kind in trackers_of(integrations):
        library = LIBRARIES[kind]
        if not is_installed(kind):
            raise InvalidRequest(
                f"This installation lacks the library of {library.title}. Its operator installs it "
                f"for API and workers: pip install 'agent-rft[{library.extra}]'",
                param=f"{INTEGRATIONS}[{position}].type",
                code="integration_not_installed",
            )
