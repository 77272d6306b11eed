"""Routes of registered HTTP environments."""

from fastapi import APIRouter, Request

from app.api.schemas.common import Deleted, Page
from app.api.schemas.environments import (
    CreateEnvironment,
    Environment,
    EnvironmentTestResult,
    RunEnvironmentTest,
    UpdateEnvironment,
)
from app.api.schemas.registry import Version, unread_keys
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.api.support.registry_pages import AfterVersion, objects_page, versions_page
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(prefix="/v1/environments", tags=["Environments"])


@router.post("", operation_id="createEnvironment", responses=responses())
async def create_environment(body: CreateEnvironment, services: Services) -> Environment:
    """Registers an environment, as version 1."""
    unread = unread_keys(body, Environment)
    return Environment.of(await services.environments().create(body.known_keys()), unread)


@router.get("", operation_id="listEnvironments", responses=responses())
async def list_environments(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[Environment]:
    """Lists objects, newest first, each in its newest version."""
    return objects_page(
        Environment.of, await services.environments().page(after=after, limit=limit)
    )


@router.get("/{environment_id}", operation_id="retrieveEnvironment", responses=responses(404))
async def get_environment(
    environment_id: str, services: Services, version: Version = None
) -> Environment:
    """Returns an environment, in its newest version unless `version` is sent."""
    return Environment.of(await services.environments().get(environment_id, version=version))


@router.get(
    "/{environment_id}/versions", operation_id="listEnvironmentVersions", responses=responses(404)
)
async def list_environment_versions(
    environment_id: str, services: Services, after: AfterVersion = None, limit: Limit = 20
) -> Page[Environment]:
    """Lists versions, newest first."""
    found = await services.environments().versions(environment_id, before=after, limit=limit)
    return versions_page(Environment.of, found)


@router.post("/{environment_id}", operation_id="updateEnvironment", responses=responses(404))
async def update_environment(
    environment_id: str, body: UpdateEnvironment, services: Services
) -> Environment:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, Environment)
    changed = await services.environments().update(environment_id, body.known_keys())
    return Environment.of(changed, unread)


@router.delete("/{environment_id}", operation_id="deleteEnvironment", responses=responses(404))
async def delete_environment(environment_id: str, services: Services) -> Deleted:
    """Deletes an environment with all its versions. Jobs keep the definition that they were made
    with.
    """
    await services.environments().delete(environment_id)
    return Deleted(id=environment_id, object="environment", deleted=True)


@router.post("/{environment_id}/test", operation_id="testEnvironment", responses=responses(404))
async def run_environment_test(
    request: Request,
    environment_id: str,
    services: Services,
    body: RunEnvironmentTest | None = None,
) -> EnvironmentTestResult:
    """Plays an episode of one turn, in four calls of ten seconds at most, and checks it."""
    work = services.environments().test(environment_id, (body or RunEnvironmentTest()).to_plan())
    return EnvironmentTestResult.of(await unless_client_hangs_up(request, work))
