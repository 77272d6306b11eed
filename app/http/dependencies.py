"""Dependencies of routes: the tenant behind the key, and the factory of its services."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Generic, TypeVar

import structlog
from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.base import SecurityBase

from app.accounts.callers import check_caller
from app.http.requests import HELD, PRINCIPAL, check_query
from app.http.scopes import check_scope
from app.kit.callers import AdminPrincipal, Principal, Tenant
from app.kit.errors import AuthenticationFailed, PermissionDenied
from app.wiring import Administration, Factory, ProcessContext, context_of

_bearer = HTTPBearer(auto_error=False, description="An API key of a project")
Credentials = HTTPAuthorizationCredentials | None
T = TypeVar("T")


class ByKey(SecurityBase, Generic[T]):
    """Resolves a key to what the route needs in one step; see docs/decisions/tenancy.md."""

    def __init__(self, resolve: Callable[[Request, Credentials], Awaitable[T]]) -> None:
        self.model, self.scheme_name = _bearer.model, _bearer.scheme_name
        self._resolve = resolve

    async def __call__(self, request: Request) -> T:
        return await self._resolve(request, await _bearer(request))


async def any_principal(request: Request, credentials: Credentials) -> Principal:
    """Resolves a key to its project or administration. Each request is checked and counted once."""
    state = request.scope["state"]
    principal: Principal | None = state.get(PRINCIPAL)
    if principal is None or credentials is None:
        principal = state[PRINCIPAL] = await _authenticated(request, credentials)
    check_query(request)
    return principal


async def _authenticated(request: Request, credentials: Credentials) -> Principal:
    if credentials is None:
        raise AuthenticationFailed(
            "You didn't provide an API key. Provide it in an Authorization header using Bearer "
            "auth (Authorization: Bearer YOUR_KEY).",
            code="missing_api_key",
        )
    context = context_of(request.app)
    principal = await context.keys.authenticate(credentials.credentials)
    await check_caller(request, context, principal)
    return principal


async def still_valid(
    request: Request, credentials: Credentials
) -> Callable[[], Awaitable[object]]:
    """Returns a check for long replies: it raises for a key that ended, or lost the scope."""
    key = "" if credentials is None else credentials.credentials
    keys = context_of(request.app).keys

    async def check() -> None:
        principal = await keys.authenticate(key)
        check_scope(principal, request.method, request.scope["path"])

    return check


async def process_context(request: Request) -> ProcessContext:
    return context_of(request.app)


Context = Annotated[ProcessContext, Depends(process_context)]
AnyPrincipal = Annotated[Principal, Depends(ByKey(any_principal))]


async def tenant(request: Request, credentials: Credentials) -> Tenant:
    principal = await any_principal(request, credentials)
    if not isinstance(principal, Tenant):
        raise PermissionDenied("An admin key manages projects; use a project's API key here.")
    structlog.contextvars.bind_contextvars(project_id=principal.project_id)
    return principal


CurrentTenant = Annotated[Tenant, Depends(ByKey(tenant))]


async def factory(request: Request, credentials: Credentials) -> Factory:
    return Factory(context_of(request.app), await tenant(request, credentials))


Services = Annotated[Factory, Depends(ByKey(factory))]


async def downloading(
    request: Request, context: Context, project: CurrentTenant, services: Services
) -> Factory:
    request.scope["state"][HELD].enter_context(context.downloads.taken(project.project_id))
    return services


Downloading = Annotated[Factory, Depends(downloading)]


@dataclass(frozen=True, slots=True)
class Exporter:
    services: Factory
    turn: Callable[[], AbstractAsyncContextManager[None]]


async def exporting(context: Context, project: CurrentTenant, services: Downloading) -> Exporter:
    turn = partial(context.exports.taken, project.organization_id, project.project_id)
    return Exporter(services, turn)


async def streaming(
    request: Request, context: Context, project: CurrentTenant, services: Services
) -> Factory:
    request.scope["state"][HELD].enter_context(context.streams.taken(project.project_id))
    return services


async def administration(request: Request, credentials: Credentials) -> Administration:
    principal = await any_principal(request, credentials)
    if not isinstance(principal, AdminPrincipal):
        raise PermissionDenied(
            "A project's API key cannot administer an organization; use an admin key here."
        )
    return Administration(context_of(request.app), principal)


Exporting = Annotated[Exporter, Depends(exporting)]
Streaming = Annotated[Factory, Depends(streaming)]
StillValid = Annotated[Callable[[], Awaitable[object]], Depends(ByKey(still_valid))]
Administered = Annotated[Administration, Depends(ByKey(administration))]
After = Annotated[
    str | None, Query(max_length=128, description="Id of the last object of the previous page")
]
Limit = Annotated[int, Query(ge=1, le=100, description="Objects of a page")]
