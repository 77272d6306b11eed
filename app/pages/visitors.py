"""Signs visitors in and out, finds them by the cookie of a request, and refuses them in pages.

The cookie is `HttpOnly` and `SameSite=Strict`, so no script reads it and no other site's link or
form carries it.
"""

import hmac
import json
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from http import HTTPStatus
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Annotated, Any, Final, Generic, TypeVar
from urllib.parse import quote, urlsplit

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import Field
from starlette.datastructures import FormData, Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from app.accounts.accounts import SESSION_S, AdministratorSession, SessionOwner
from app.http.requests import check_query
from app.http.scopes import check_scope
from app.jobs.jobs import Job, JobStatus
from app.kit.callers import Actor, Principal, act_as
from app.kit.errors import (
    AuthenticationFailed,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    RateLimited,
    RequestError,
)
from app.kit.faults import fault_clause
from app.pages.rendering import (
    HEADERS,
    made_on_thread,
    page,
    prefers_html,
    redirect,
    wants_page,
    wants_part,
)
from app.wiring import Factory, context_of

COOKIE: Final = "agent_rft_session"
FORM_TOKEN: Final = "form_token"  # noqa: S105 - the name of a field
_FORM: Final = "application/x-www-form-urlencoded"


class SignInRequired(AuthenticationFailed):
    """The request has no session, or one that has ended."""


Services = TypeVar("Services")


class Person(Generic[Services]):
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
        """Renders a template on a thread; `make` makes there the values that take time."""
        token = self.owner.form_token
        return await self.on_thread(
            lambda: page(
                name, status_code, form_token=token, **values, **({} if make is None else make())
            )
        )


Visitor = Person[Factory]


async def _visitor(request: Request) -> AsyncIterator[Visitor]:
    """Yields the visitor, whose request counts as open until the reply is sent."""
    owner = await signed_in(request)
    structlog.contextvars.bind_contextvars(project_id=owner.tenant.project_id)
    async with counted_request(request, owner.tenant):
        yield Visitor(owner, Factory(context_of(request.app), owner.tenant))


@asynccontextmanager
async def counted_request(request: Request, principal: Principal) -> AsyncIterator[None]:
    """Counts a request of a session. Pages have a rate of their own, apart from API calls."""
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
        check_scope(principal, request.method, request.scope["path"])
        yield


def session_actor(request: Request, key_id: str = "") -> Actor | None:
    """Returns the actor of a form; `None` for a page, which changes nothing."""
    if request.method == "GET":
        return None
    return Actor("session", key_id, "" if request.client is None else request.client.host)


async def signed_in(request: Request) -> SessionOwner:
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
    """Returns the fields of a form. Raises `PermissionDenied` for a form of another site."""
    check_site(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise InvalidRequest(f"A form is sent as '{_FORM}'.")
    form: FormData = await request.form(max_files=0, max_fields=48)
    fields = {name: value for name, value in form.items() if not isinstance(value, UploadFile)}
    if any("\x00" in value for value in fields.values()):
        raise InvalidRequest("NUL is not allowed in a form.")
    return fields


async def _own_form(request: Request, visitor: "SignedIn") -> Mapping[str, str]:
    return await form_of(request, visitor.owner)


async def _session_form(request: Request) -> SessionOwner:
    owner = await signed_in(request)
    async with counted_request(request, owner.principal):
        await form_of(request, owner)
    return owner


async def form_of(request: Request, owner: SessionOwner) -> Mapping[str, str]:
    fields = await sent_form(request)
    check_form_token(fields, owner)
    return fields


def check_form_token(fields: Mapping[str, str], owner: SessionOwner) -> None:
    sent = fields.get(FORM_TOKEN, "").encode()
    if not hmac.compare_digest(sent, owner.form_token.encode()):
        raise PermissionDenied(
            "This form was made for another session. Go back, reload the page and try again."
        )


def check_site(request: Request) -> None:
    """Raises `PermissionDenied` for a form of another site, by `Sec-Fetch-Site` or `Origin`."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = bool(origin) and urlsplit(origin).netloc == request.headers.get("host")
    if not is_own:
        raise PermissionDenied("This form was not sent by a page of this service.")


async def report_of(visitor: Visitor, job: Job) -> dict[str, Any] | None:
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


SignedIn = Annotated[Visitor, Depends(_visitor)]
Streaming = Annotated[Visitor, Depends(_streaming)]
SessionForm = Annotated[SessionOwner, Depends(_session_form)]
OwnForm = Annotated[Mapping[str, str], Depends(_own_form)]
After = Annotated[str | None, Query(max_length=128)]
"""Id behind which the page of a list begins."""
Reward = Annotated[float, Field(allow_inf_nan=False)]


FOR_BROWSERS: Final = (
    "This is a page for browsers, which sign in at /sign-in. The API, which takes an API key, is "
    "below /v1."
)
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose refusals are pages, JSON for programs, or the way to the sign-in page."""

    @override
    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def answer_or_refuse(request: Request) -> Response:
            if not wants_page(request.headers):
                return await _answer_to_program(answer, request)
            try:
                check_query(request)
                return await answer(request)
            except SignInRequired:
                return _to_sign_in(request)
            except RequestError as error:
                return _refusal(request, error)
            except RequestValidationError as error:
                return _invalid(error)
            except HTTPException as error:  # a form that cannot be parsed
                return refusal_page(error.status_code, str(error.detail))

        return answer_or_refuse


async def _answer_to_program(answer: Handler, request: Request) -> Response:
    check_query(request)
    try:
        return await answer(request)
    except SignInRequired as error:
        raise SignInRequired(FOR_BROWSERS) from error


def refusal_page(status: int, message: str) -> Response:
    return page(
        "refusal.html", status_code=status, title=HTTPStatus(status).phrase, message=message
    )


def _to_sign_in(request: Request) -> Response:
    if wants_part(request):
        # The script loads the whole page again, which then leads to the sign-in page.
        return Response(status_code=401, headers={**HEADERS, "hx-refresh": "true"})
    if request.method != "GET":
        return redirect("/sign-in")
    requested = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = "/sign-in" if requested == "/" else f"/sign-in?next={quote(requested, safe='')}"
    return redirect(target)


def _refusal(request: Request, error: RequestError) -> Response:
    """Returns the page of an error; leads an admin's session from `/` to its own first page."""
    if isinstance(error, AdministratorSession) and request.url.path == "/":
        return redirect("/projects")
    reply = refusal_page(error.status_code, error.message)
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        reply.headers["retry-after"] = str(math.ceil(error.retry_after_s))
    return reply


def _invalid(error: RequestValidationError) -> Response:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"][1:]) or "the request"
    return refusal_page(400, f"Invalid value for '{where}': {fault_clause([fault])}.")


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
    set_cookie(reply, request, "", max_age_s=0)
    return reply


async def _count_attempt(request: Request, owner: str) -> None:
    limits = context_of(request.app).rate_limits
    quota = await limits.take(f"sign-in:{owner}", limit=SIGN_INS_PER_MINUTE)
    if quota is not None and not quota.allowed:
        raise RateLimited(
            f"More than {quota.limit} sign-ins came from this address, or with this key, within a "
            "minute. Try again in a minute.",
            retry_after_s=quota.reset_s,
        )


def _address_of(request: Request) -> str:
    """Returns the client's address, for IPv6 its network, which is all one client's."""
    host = "" if request.client is None else request.client.host
    try:
        address = ip_address(host)
    except ValueError:  # a socket without an address
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ip_network((int(address), _CLIENT_NETWORK), strict=False))


def _own_path(sent: str) -> str:
    """Returns the path to lead to; the first page for one that may lead to another host."""
    is_path = sent.startswith("/") and not sent.startswith(("//", "/\\"))
    plain = sent.isprintable() and sent.isascii() and "\\" not in sent
    return sent if is_path and plain and len(sent) <= _LONGEST else _HOME


_API: Final = ("/v1/", "/healthz/", "/readyz/", "/openapi.json/")
_ERRORS: Final = 400
_JSON: Final = "application/json"
_VARIES: Final = "Accept, Authorization, HX-Request, Cookie"
"""Request headers on which the reply depends, so that no cache may reuse it."""


class ErrorPages:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or f"{scope['path']}/".startswith(_API):
            await self._app(scope, receive, send)
            return
        reply = _Reply(send, as_page=scope["method"] != "HEAD" and wants_page(Headers(scope=scope)))
        await self._app(scope, receive, reply.send)


class _Reply:
    """One reply: passes through, or is buffered until its error is known and rendered as a page."""

    def __init__(self, send: Send, *, as_page: bool) -> None:
        self._send = send
        self._as_page = as_page
        self._kept: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
            headers.add_vary_header(_VARIES)
            is_error = message["status"] >= _ERRORS and headers.get("content-type") == _JSON
            if is_error and self._as_page:
                self._kept = message
                return
        if self._kept is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._send_page(self._kept)

    async def _send_page(self, start: Message) -> None:
        page = refusal_page(start["status"], _message(bytes(self._body)))
        MutableHeaders(scope=start).update(page.headers)
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page.body})


def _message(envelope: bytes) -> str:
    error: dict[str, Any] = json.loads(envelope)["error"]
    return str(error["message"])
