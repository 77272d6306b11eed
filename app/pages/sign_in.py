"""Routes of signing in and out."""

from hashlib import sha256
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from app.kit.callers import act_as
from app.kit.errors import AuthenticationFailed, PermissionDenied, RateLimited
from app.pages.refusals import FOR_BROWSERS, PageRoute
from app.pages.rendering import page, prefers_html, redirect, wants_page
from app.pages.visitors import (
    COOKIE,
    SessionForm,
    SignInRequired,
    check_site,
    clear_cookie,
    sent_form,
    session_actor,
    set_cookie,
)
from app.wiring import context_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_HOME: Final = "/"
_LONGEST: Final = 2000
SIGN_INS_PER_MINUTE: Final = 60
"""Attempts from one address, and with one key, successful ones included."""
_CLIENT_NETWORK: Final = 64
"""Bits of an IPv6 address that name a client's network."""


@router.get("/sign-in")
async def form(request: Request, to: Annotated[str, Query(alias="next")] = _HOME) -> Response:
    # A proxy may send a key with every request: a client that requests HTML can still sign in.
    if not wants_page(request.headers) and not prefers_html(request.headers):
        raise SignInRequired(FOR_BROWSERS)
    return page("sign_in.html", to=_own_path(to), message=None)


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Begins a session by an API key, or by the one-time link that `agent-rft up` printed."""
    act_as(session_actor(request))
    check_site(request)  # before it counts, so that another site uses up nobody's attempts
    await _count_attempt(request, _address_of(request))
    fields = await sent_form(request)
    to = _own_path(fields.get("next", _HOME))
    sessions = context_of(request.app).dashboard_sessions()
    link, key = fields.get("link", ""), fields.get("api_key", "").strip()
    await _count_attempt(request, sha256(f"{link}\n{key}".encode(errors="replace")).hexdigest())
    try:
        session = await (sessions.redeem(link) if link else sessions.begin(key))
    except (AuthenticationFailed, PermissionDenied) as refused:
        if not wants_page(request.headers):
            raise
        return page("sign_in.html", refused.status_code, to=to, message=refused.message)
    if former := request.cookies.get(COOKIE):
        await sessions.end(former)
    reply = redirect(to)
    set_cookie(reply, request, session)
    return reply


@router.post("/sign-out")
async def sign_out(request: Request, _owner: SessionForm) -> Response:
    await context_of(request.app).dashboard_sessions().end(request.cookies[COOKIE])
    reply = redirect("/sign-in")
    clear_cookie(reply, request)
    return reply


async def _count_attempt(request: Request, owner: str) -> None:
    """Counts an attempt. Raises `RateLimited` for an owner that tries to sign in too often,
    successfully or not.
    """
    limits = context_of(request.app).rate_limits
    quota = await limits.take(f"sign-in:{owner}", limit=SIGN_INS_PER_MINUTE)
    if quota is not None and not quota.allowed:
        raise RateLimited(
            f"More than {quota.limit} sign-ins came from this address, or with this key, within a "
            "minute. Try again in a minute.",
            retry_after_s=quota.reset_s,
        )


def _address_of(request: Request) -> str:
    """Returns the client's address, or for IPv6 its network, whose addresses all belong to one
    client.
    """
    host = "" if request.client is None else request.client.host
    try:
        address = ip_address(host)
    except ValueError:  # a socket without an address
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ip_network((int(address), _CLIENT_NETWORK), strict=False))


def _own_path(sent: str) -> str:
    """Returns the path to redirect to; the first page for any path that may lead to another
    host.
    """
    is_path = sent.startswith("/") and not sent.startswith(("//", "/\\"))
    plain = sent.isprintable() and sent.isascii() and "\\" not in sent
    return sent if is_path and plain and len(sent) <= _LONGEST else _HOME
