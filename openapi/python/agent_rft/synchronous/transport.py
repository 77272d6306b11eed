"""Attempts: what is sent again, after how long, and that it is done once all the same."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import sleep
from uuid import uuid4

import httpx
from typing_extensions import override

from agent_rft.errors import ConnectionFailed, error_of
from agent_rft.pauses import Pause

# 409 says that an earlier attempt with the same key is still at work.
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
_FIRST_S, _LONGEST_S, _LONGEST_ASKED_S = 0.5, 8.0, 120.0
_KEY = "idempotency-key"
_REFUSED = 400


class RetryingTransport(httpx.BaseTransport):
    """Sends a request up to `retries` more times after 408, 409, 429, 5xx or a lost connection.

    Waits as `Retry-After` asks (up to two minutes), else twice as long each time, less up to a
    quarter by chance. A POST carries one `Idempotency-Key` through all of its attempts. An answer
    that stays bad is raised as the error of its status.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        *,
        retries: int = 2,
        sleep: Pause = sleep,
    ) -> None:
        self._inner, self._retries, self._sleep = inner, retries, sleep

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            request.headers.setdefault(_KEY, f"art-{uuid4().hex}")
        for attempt in range(self._retries + 1):
            try:
                response = self._inner.handle_request(request)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise ConnectionFailed(f"{type(error).__name__}: {error}") from error
                self._sleep(_pause(attempt))
                continue
            if response.status_code < _REFUSED:
                return response
            response.read()
            response.close()
            asked = _asked(response)
            too_long = asked is not None and asked > _LONGEST_ASKED_S
            if response.status_code not in _AGAIN or attempt == self._retries or too_long:
                raise error_of(response)
            self._sleep(_pause(attempt) if asked is None else asked)
        raise AssertionError("the last attempt returns or raises")

    @override
    def close(self) -> None:
        self._inner.close()


def _pause(attempt: int) -> float:
    longest: float = min(_LONGEST_S, _FIRST_S * 2.0**attempt)
    return longest * (1 - 0.25 * random.random())


def _asked(response: httpx.Response) -> float | None:
    """Seconds of `Retry-After`, which is a number or a date."""
    text = response.headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - datetime.now(UTC).timestamp())
    except ValueError:
        return None
