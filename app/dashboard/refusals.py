"""Routes of pages, whose errors are pages too."""

import math
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from typing_extensions import override

from app.dashboard.accepted import wanted
from app.dashboard.pages import HEADERS, page, wants_part
from app.dashboard.visitors import SignInRequired
from app.domain.errors import RateLimited, RequestError
from app.domain.value_faults import worded
from app.query_check import check_query

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose refusals are pages, but for a client that wants JSON. Without a session it
    leads to the sign-in page, and from there back to the page that was asked for.
    """

    @override
    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def answer_or_refuse(request: Request) -> Response:
            if wanted(request.headers) == "json":
                return await answer(request)  # an error of it is answered as JSON
            try:
                check_query(request)
                return await answer(request)
            except SignInRequired:
                return _to_sign_in(request)
            except RequestError as error:
                return _refusal(error)
            except RequestValidationError as error:
                return _invalid(error)
            except HTTPException as error:  # a form that cannot be parsed
                return refusal_page(error.status_code, str(error.detail))

        return answer_or_refuse


def refusal_page(status: int, message: str) -> Response:
    return page(
        "refusal.html", status_code=status, title=HTTPStatus(status).phrase, message=message
    )


def _to_sign_in(request: Request) -> Response:
    if wants_part(request):
        # The script loads the whole page again, which then leads to the sign-in page.
        return Response(status_code=401, headers={**HEADERS, "hx-refresh": "true"})
    if request.method != "GET":
        return RedirectResponse("/sign-in", status_code=303, headers=dict(HEADERS))
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = "/sign-in" if asked == "/" else f"/sign-in?next={quote(asked, safe='')}"
    return RedirectResponse(target, status_code=303, headers=dict(HEADERS))


def _refusal(error: RequestError) -> Response:
    reply = refusal_page(error.status_code, error.message)
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        reply.headers["retry-after"] = str(math.ceil(error.retry_after_s))
    return reply


def _invalid(error: RequestValidationError) -> Response:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"][1:]) or "the request"
    return refusal_page(400, f"Invalid value for '{where}': {worded([fault])}.")
