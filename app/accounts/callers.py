"""Checks an authenticated caller: the headers that name its scope, its requests in flight, and its
rate limit.

The rate-limit headers are part of every reply, also of a failed request. Source of their names and
of the errors: the hosted API's rate-limit guide and its errors of mismatched scope.
"""

from collections.abc import Set as AbstractSet
from typing import Final, assert_never

from fastapi import Request

from app.http.rate_limits import Quota
from app.http.requests import HELD, REPLY_HEADERS
from app.http.scopes import check_scope
from app.kit.callers import Actor, AdminPrincipal, Principal, Tenant, act_as
from app.kit.errors import AuthenticationFailed, RateLimited
from app.wiring import ProcessContext

_MINUTE_S = 60
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


async def check_caller(request: Request, context: ProcessContext, principal: Principal) -> None:
    """Counts a request and names its actor.

    Raises `AuthenticationFailed`, `PermissionDenied` and `RateLimited`.
    """
    act_as(_actor_of(request, principal))
    headers: dict[str, str] = request.scope["state"][REPLY_HEADERS]
    match principal:
        case Tenant():
            _check_organization(request, {principal.organization_id, principal.organization_slug})
            _check_project(request, principal)
            headers["openai-organization"] = principal.organization_slug
        case AdminPrincipal():
            _check_organization(request, {principal.organization_id})
        case _:
            assert_never(principal)
    request.scope["state"][HELD].enter_context(context.requests.taken(principal.scope_id))
    quota = await context.rate_limits.take(principal.scope_id)
    if quota is not None:
        _check_rate(quota, headers)
    check_scope(principal, request.method, request.scope["path"])


def _check_rate(quota: Quota, headers: dict[str, str]) -> None:
    headers["x-ratelimit-limit-requests"] = str(quota.limit)
    headers["x-ratelimit-remaining-requests"] = str(quota.remaining)
    headers["x-ratelimit-reset-requests"] = duration(quota.reset_s)
    if not quota.allowed:
        raise RateLimited(
            f"Rate limit of {quota.limit} requests a minute reached. Please try again in "
            f"{duration(quota.reset_s)}.",
            retry_after_s=quota.reset_s,
        )


def _actor_of(request: Request, principal: Principal) -> Actor | None:
    if request.method in _READS:
        return None
    address = "" if request.client is None else request.client.host
    return Actor("api_key", principal.key_id, address)


def duration(seconds: float) -> str:
    """Formats seconds as `1s`, `6m0s` or `120ms`, as in the hosted API."""
    if seconds < 1:
        return f"{max(1, round(1000 * seconds))}ms"
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _check_organization(request: Request, known: AbstractSet[str]) -> None:
    organization = request.headers.get("openai-organization")
    if organization and organization not in known:
        raise AuthenticationFailed(
            "OpenAI-Organization header should match organization for API key.",
            code="mismatched_organization",
        )


def _check_project(request: Request, tenant: Tenant) -> None:
    project = request.headers.get("openai-project")
    if project and project != tenant.project_id:
        raise AuthenticationFailed(
            "OpenAI-Project header should match project for API key.", code="mismatched_project"
        )
