"""Finds the visitor by the cookie of a request, and refuses forms of other sites.

The cookie is `HttpOnly` and `SameSite=Strict`, so no script reads it and no other site's link or
form carries it.
"""

import hmac
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import structlog
from fastapi import Depends, Query, Request, Response
from pydantic import Field
from starlette.datastructures import FormData, UploadFile

from app.accounts.accounts import SESSION_S, Actor, Principal, SessionOwner, act_as
from app.jobs.jobs import Job, JobStatus
from app.kit.errors import (
    AuthenticationFailed,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    RateLimited,
)
from app.pages.rendering import made_on_thread, page
from app.wiring import Factory, context_of

COOKIE: Final = "agent_rft_session"
FORM_TOKEN: Final = "form_token"  # noqa: S105 - the name of a field
_MAX_FIELDS: Final = 48
_SITE: Final = "sec-fetch-site"
_FORM: Final = "application/x-www-form-urlencoded"


class SignInRequired(AuthenticationFailed):
    """The request has no session, or one that has ended."""


Services = TypeVar("Services")


class Person(Generic[Services]):
    """Somebody who is signed in: the owner of a session, with the services of their project, or of
    their organization.
    """

    def __init__(self, owner: SessionOwner, services: Services) -> None:
        self.owner = owner
        self.services = services

    async def on_thread(self, make: Callable[[], Response]) -> Response:
        """Renders a reply on a thread, so that no other request waits for it."""
        return await made_on_thread(self.owner.principal, make)

    async def page(
        self,
        name: str,
        make: Callable[[], Mapping[str, Any]] | None = None,
        /,
        *,
        status_code: int = 200,
        **values: Any,
    ) -> Response:
        """Renders a template on a thread with these values, and with those that `make` makes there
        because they take time.
        """
        token = self.owner.form_token
        return await self.on_thread(
            lambda: page(
                name, status_code, form_token=token, **values, **({} if make is None else make())
            )
        )


Visitor = Person[Factory]


async def _visitor(request: Request) -> AsyncIterator[Visitor]:
    """Yields the visitor, whose request counts among the project's open ones until the reply is
    sent.
    """
    owner = await signed_in(request)
    structlog.contextvars.bind_contextvars(project_id=owner.tenant.project_id)
    async with counted_request(request, owner.tenant):
        yield Visitor(owner, Factory(context_of(request.app), owner.tenant))


@asynccontextmanager
async def counted_request(request: Request, principal: Principal) -> AsyncIterator[None]:
    """Counts a request of a session among those of its project or organization. Pages have a rate
    of their own, so that an open dashboard does not use up the rate of API calls.
    """
    context = context_of(request.app)
    act_as(session_actor(request, principal.key_id))
    with context.requests.taken(principal.scope_id):
        quota = await context.rate_limits.take(f"{principal.scope_id}:pages")
        if quota is not None and not quota.allowed:
            raise RateLimited(
                f"Pages of this project were asked for more than {quota.limit} times a minute. "
                "Close some of them, and reload this one in a minute.",
                retry_after_s=quota.reset_s,
            )
        yield


def session_actor(request: Request, key_id: str = "") -> Actor | None:
    """Returns the actor of a form; `None` for a page, which changes nothing."""
    if request.method == "GET":
        return None
    return Actor("session", key_id, "" if request.client is None else request.client.host)


async def signed_in(request: Request) -> SessionOwner:
    """Returns the session's owner. Raises `SignInRequired` without a session, or once it has
    ended.
    """
    session = request.cookies.get(COOKIE, "")
    if not session:
        raise SignInRequired("Sign in to see this page.")
    try:
        return await context_of(request.app).dashboard_sessions().owner(session)
    except AuthenticationFailed as ended:
        raise SignInRequired(ended.message) from ended


async def _streaming(request: Request, visitor: "SignedIn") -> AsyncIterator[Visitor]:
    """Yields the visitor, who holds one of the project's streams until it has ended."""
    with context_of(request.app).streams.taken(visitor.owner.tenant.project_id):
        yield visitor


async def sent_form(request: Request) -> Mapping[str, str]:
    """Returns the fields of a form that this site sent. Raises `PermissionDenied` for a form of
    another site, or of an unknown one.
    """
    check_site(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise InvalidRequest(f"A form is sent as '{_FORM}'.")
    form: FormData = await request.form(max_files=0, max_fields=_MAX_FIELDS)
    fields = {name: value for name, value in form.items() if not isinstance(value, UploadFile)}
    if any("\x00" in value for value in fields.values()):
        raise InvalidRequest("NUL is not allowed in a form.")
    return fields


async def _own_form(request: Request, visitor: "SignedIn") -> Mapping[str, str]:
    return await form_of(request, visitor.owner)


async def _session_form(request: Request) -> SessionOwner:
    """Returns the owner of any session, whose form carries nothing but its token."""
    owner = await signed_in(request)
    async with counted_request(request, owner.principal):
        await form_of(request, owner)
    return owner


async def form_of(request: Request, owner: SessionOwner) -> Mapping[str, str]:
    """Returns the fields of a form that was made for the owner's session. Raises
    `PermissionDenied` for any other.
    """
    fields = await sent_form(request)
    check_form_token(fields, owner)
    return fields


def check_form_token(fields: Mapping[str, str], owner: SessionOwner) -> None:
    """Raises `PermissionDenied` for a form that was made for another session."""
    sent = fields.get(FORM_TOKEN, "").encode()
    if not hmac.compare_digest(sent, owner.form_token.encode()):
        raise PermissionDenied(
            "This form was made for another session. Go back, reload the page and try again."
        )


def check_site(request: Request) -> None:
    """Raises `PermissionDenied` for a form of another site. Browsers name the site that sends it in
    `Sec-Fetch-Site`, or without TLS in `Origin`.
    """
    site, origin = request.headers.get(_SITE), request.headers.get("origin")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = bool(origin) and urlsplit(origin).netloc == request.headers.get("host")
    if not is_own:
        raise PermissionDenied("This form was not sent by a page of this service.")


async def report_of(visitor: Visitor, job: Job) -> dict[str, Any] | None:
    """Returns the report of a job that has succeeded and made one."""
    if job.status is not JobStatus.SUCCEEDED:
        return None
    try:
        return await visitor.services.rollouts().report(job.id)
    except NotFound:
        return None


def set_cookie(
    response: Response, request: Request, session: str, *, max_age_s: int = SESSION_S
) -> None:
    response.set_cookie(
        COOKIE,
        session,
        max_age=max_age_s,
        httponly=True,
        samesite="strict",
        # A browser keeps no secure cookie of a page that came over plain HTTP.
        secure=request.url.scheme == "https",
    )


def clear_cookie(response: Response, request: Request) -> None:
    set_cookie(response, request, "", max_age_s=0)


SignedIn = Annotated[Visitor, Depends(_visitor)]
Streaming = Annotated[Visitor, Depends(_streaming)]
SessionForm = Annotated[SessionOwner, Depends(_session_form)]
OwnForm = Annotated[Mapping[str, str], Depends(_own_form)]
After = Annotated[str | None, Query(max_length=128)]
"""Id behind which the page of a list begins."""
Reward = Annotated[float, Field(allow_inf_nan=False)]
"""A reward in the query of a page."""
