"""Routes of pages, whose errors are pages too."""

import math
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from typing_extensions import override

from app.accounts.accounts import AdministratorSession
from app.http.requests import check_query
from app.kit.errors import RateLimited, RequestError
from app.kit.faults import fault_clause
from app.kit.requests import check_query
from app.pages.rendering import HEADERS, page, redirect, wants_page, wants_part
from app.pages.visitors import SignInRequired

FOR_BROWSERS: Final = (
    "This is a page for browsers, which sign in at /sign-in. The API, which takes an API key, is "
    "below /v1."
)
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose refusals are pages, and JSON for a client that asks for no page. Without a
    session it redirects a browser to the sign-in page, and from there back to the requested page.
    """

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
    """Returns the reply to a program; an error is raised and becomes JSON."""
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
    """Returns the page of an error. The session of an admin key is led from the first page to its
    own first page.
    """
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
