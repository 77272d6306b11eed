"""Checks an authenticated caller: the headers that name its scope, its requests in flight, and its
rate limit.

The rate-limit headers are part of every reply, also of a failed request. Source of their names and
of the errors: the hosted API's rate-limit guide and its errors of mismatched scope.
"""

from fastapi import Request

from app.api.support.request_state import HELD, REPLY_HEADERS
from app.domain.accounts.tenants import AdminPrincipal, Tenant
from app.domain.errors import AuthenticationFailed, RateLimited
from app.factory.process import ProcessContext

_MINUTE_S = 60


async def check_caller(
    request: Request, context: ProcessContext, principal: Tenant | AdminPrincipal
) -> None:
    """Counts the request until its reply is sent. Raises `AuthenticationFailed` for headers that
    name another scope, or `RateLimited`.
    """
    headers: dict[str, str] = request.scope["state"][REPLY_HEADERS]
    _check_scope(request, principal)
    if isinstance(principal, Tenant):
        headers["openai-organization"] = principal.organization_slug
        owner: str = principal.project_id
    else:
        owner = principal.organization_id
    request.scope["state"][HELD].enter_context(context.requests.taken(owner))
    quota = await context.rate_limits.take(owner)
    if quota is None:
        return
    headers["x-ratelimit-limit-requests"] = str(quota.limit)
    headers["x-ratelimit-remaining-requests"] = str(quota.remaining)
    headers["x-ratelimit-reset-requests"] = duration(quota.reset_s)
    if not quota.allowed:
        raise RateLimited(
            f"Rate limit of {quota.limit} requests a minute reached. Please try again in "
            f"{duration(quota.reset_s)}.",
            retry_after_s=quota.reset_s,
        )


def duration(seconds: float) -> str:
    """Formats seconds as `1s`, `6m0s` or `120ms`, as in the hosted API."""
    if seconds < 1:
        return f"{max(1, round(1000 * seconds))}ms"
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _check_scope(request: Request, principal: Tenant | AdminPrincipal) -> None:
    organization = request.headers.get("openai-organization")
    known: set[str] = {principal.organization_id}
    if isinstance(principal, Tenant):
        known.add(principal.organization_slug)
    if organization and organization not in known:
        raise AuthenticationFailed(
            "OpenAI-Organization header should match organization for API key.",
            code="mismatched_organization",
        )
    project = request.headers.get("openai-project")
    if project and isinstance(principal, Tenant) and project != principal.project_id:
        raise AuthenticationFailed(
            "OpenAI-Project header should match project for API key.", code="mismatched_project"
        )
