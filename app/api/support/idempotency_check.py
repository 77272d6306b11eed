"""Checks a form with a file against the request's `Idempotency-Key` once its bytes are stored."""

from collections.abc import Awaitable, Callable

from fastapi import Request
from starlette.types import Scope

from app.api.support.request_state import STORED_RESPONSE
from app.domain.http.idempotency import fingerprint_of_form


def request_target(scope: Scope) -> str:
    """Returns the path and query of a request."""
    return f"{scope['path']}?{scope['query_string'].decode('latin-1')}"


def idempotency_check(
    request: Request, described: Callable[[], dict[str, str]]
) -> Callable[[str], Awaitable[None]]:
    """Checks a form against the request's key by the file's SHA-256, before any row is written.

    Raises `RepeatedRequest` when the response to the same form is stored under the request's key.
    `described` returns the form's other fields; it is called after the file, because fields may
    follow it.
    """

    async def check(sha256: str) -> None:
        guarded = request.scope.get("state", {}).get(STORED_RESPONSE)
        if guarded is not None:
            target = request_target(request.scope)
            await guarded.begin(fingerprint_of_form("POST", target, described(), sha256))

    return check
