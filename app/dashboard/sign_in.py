"""Routes of signing in and out."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.dashboard.pages import HEADERS, page
from app.dashboard.refusals import PageRoute
from app.dashboard.visitors import (
    COOKIE,
    OwnForm,
    SignedIn,
    clear_cookie,
    sent_form,
    set_cookie,
)
from app.domain.errors import AuthenticationFailed, PermissionDenied
from app.factory.process import context_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_HOME: Final = "/"
_LONGEST: Final = 2000


@router.get("/sign-in")
async def form(to: Annotated[str, Query(alias="next")] = _HOME) -> Response:
    return page("sign_in.html", to=_own_path(to), message=None)


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Begins a session by an API key, or by the one-time link that `agent-rft up` printed."""
    fields = await sent_form(request)
    to = _own_path(fields.get("next", _HOME))
    sessions = context_of(request.app).dashboard_sessions()
    try:
        if link := fields.get("link", ""):
            session = await sessions.redeem(link)
        else:
            session = await sessions.begin(fields.get("api_key", "").strip())
    except (AuthenticationFailed, PermissionDenied) as refused:
        return page("sign_in.html", refused.status_code, to=to, message=refused.message)
    reply = RedirectResponse(to, status_code=303, headers=dict(HEADERS))
    set_cookie(reply, request, session)
    return reply


@router.post("/sign-out")
async def sign_out(request: Request, _guest: SignedIn, _form: OwnForm) -> Response:
    await context_of(request.app).dashboard_sessions().end(request.cookies[COOKIE])
    reply = RedirectResponse("/sign-in", status_code=303, headers=dict(HEADERS))
    clear_cookie(reply, request)
    return reply


def _own_path(sent: str) -> str:
    """Returns the path to go to, and the first page for anything that may lead to another host."""
    is_path = sent.startswith("/") and not sent.startswith(("//", "/\\"))
    plain = sent.isprintable() and sent.isascii() and "\\" not in sent
    return sent if is_path and plain and len(sent) <= _LONGEST else _HOME
