"""Errors of the client: one class for each kind of answer, with the request's id."""

from collections.abc import Mapping

import httpx


class ConnectionFailed(Exception):
    """No answer came, after all attempts."""


class APIError(Exception):
    """An answer other than success. Quote `request_id` in a report."""

    def __init__(
        self, status: int, error: Mapping[str, str | None], request_id: str | None
    ) -> None:
        self.status, self.request_id = status, request_id
        self.message = error.get("message") or f"HTTP status {status}"
        self.type, self.param, self.code = error.get("type"), error.get("param"), error.get("code")
        super().__init__(f"{self.message} (status {status}, request {request_id})")


class BadRequestError(APIError):
    """400, 413 or 422: the call is malformed, too large, or the object in the wrong state."""


class AuthenticationError(APIError):
    """401: the key is missing or unknown."""


class PermissionDeniedError(APIError):
    """403: the key may not do this."""


class NotFoundError(APIError):
    """404: no such object in this project."""


class ConflictError(APIError):
    """409, after all attempts: a call with the same idempotency key is still at work."""


class RateLimitError(APIError):
    """429, after all attempts."""


class ServerError(APIError):
    """5xx, after all attempts."""


class TrainingEnded(Exception):
    """A job ended without a tuned model. `status` says how, the message why and what helps."""

    def __init__(self, job_id: str, status: str, why: str | None) -> None:
        self.job_id, self.status = job_id, status
        super().__init__(f"{job_id} {status}" + (f": {why}" if why else ""))


_CLASSES = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: BadRequestError,
    422: BadRequestError,
    429: RateLimitError,
}
_SERVER = 500


def error_of(response: httpx.Response) -> APIError:
    """From a response that was read."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = {}
    status = response.status_code
    kind = _CLASSES.get(status, ServerError if status >= _SERVER else APIError)
    return kind(
        status, error if isinstance(error, dict) else {}, response.headers.get("x-request-id")
    )
