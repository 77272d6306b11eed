"""What routes need of a request: the tenant behind the key, and the factory of its services."""

from typing import Annotated, Final

import structlog
from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.api.admission import admit
from app.domain.errors import AuthenticationFailed, PermissionDenied
from app.domain.tenants import AdminPrincipal, Tenant
from app.factory import Administration, Factory, ProcessContext

PRINCIPAL: Final = "principal"
"""In a request's state: whom its key speaks for, of one that was admitted before its route."""
_bearer = HTTPBearer(auto_error=False, description="An API key of a project")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def process_context(request: Request) -> ProcessContext:
    context = request.app.state.context
    if not isinstance(context, ProcessContext):
        raise TypeError("the application was started without a context")
    return context


Context = Annotated[ProcessContext, Depends(process_context)]


async def any_principal(
    request: Request, context: Context, credentials: Credentials
) -> Tenant | AdminPrincipal:
    """Whom the key speaks for: a project, or an organization's administration."""
    if credentials is None:
        raise _no_key()
    admitted: Tenant | AdminPrincipal | None = request.scope["state"].get(PRINCIPAL)
    if admitted is not None:
        return admitted
    principal = await context.key_service().authenticate(credentials.credentials)
    await admit(request, context, principal)
    return principal


AnyPrincipal = Annotated[Tenant | AdminPrincipal, Depends(any_principal)]


async def tenant(principal: AnyPrincipal) -> Tenant:
    """The project the key speaks for. An admin key reads no project's data."""
    if isinstance(principal, AdminPrincipal):
        raise PermissionDenied("An admin key manages projects; use a project's API key here.")
    structlog.contextvars.bind_contextvars(project_id=principal.project_id)
    return principal


async def administration(context: Context, principal: AnyPrincipal) -> Administration:
    """What only an organization's admin key may do."""
    if not isinstance(principal, AdminPrincipal):
        raise PermissionDenied("A project's API key administers nothing; use an admin key here.")
    return Administration(context, principal)


Administered = Annotated[Administration, Depends(administration)]


def _no_key() -> AuthenticationFailed:
    return AuthenticationFailed(
        "You didn't provide an API key. Provide it in an Authorization header using Bearer "
        "auth (Authorization: Bearer YOUR_KEY).",
        code="missing_api_key",
    )


CurrentTenant = Annotated[Tenant, Depends(tenant)]


async def factory(context: Context, current: CurrentTenant) -> Factory:
    return Factory(context, current)


Services = Annotated[Factory, Depends(factory)]
After = Annotated[str | None, Query(max_length=128, description="Id of the last row seen")]
Limit = Annotated[int, Query(ge=1, le=100)]
