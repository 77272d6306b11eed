"""Calls of a running service: bounded replies, one sentence for each failure, and patience.

A reply's cookies and redirects are ignored, whatever server is at the address.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final
from uuid import uuid4

import httpx

from app.cli.replies import Reply, not_text, unreadable_reply
from app.cli.terminal import CreationUnknown, ServiceError, WrongOption
from app.kit.errors import IdempotencyKeyInUse
from app.kit.processes import NO_ANSWER, NOT_ALLOWED, NOT_FOUND, REQUEST_REFUSED, TRY_LATER

TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)
REPLY_BYTES: Final = 64 * 1024**2
"""Most bytes of a reply that is held in memory."""
DOWNLOAD_BYTES: Final = 256 * 1024**3
"""Most bytes of a file whose length the service does not name."""
_MOST_ROWS: Final = 100
"""Largest number of rows on a page of the service."""
_UNAUTHORIZED: Final = 401
_CODES: Final = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: NOT_FOUND, 429: TRY_LATER}
_SERVER_ERRORS: Final = 500
_PROXY_ERRORS: Final = frozenset({502, 503, 504})
_STATUSES_OF_PROXIES: Final = _PROXY_ERRORS | {401, 403, 429}
"""Statuses with which a proxy in front of a service may answer in its own words."""
_CREATE_WAITS_S: Final = (1.0, 2.0, 4.0)


class ReplyTooLong(ServiceError):
    """A reply went on behind its bound."""


class NoAnswer(ServiceError):
    def __init__(self, base_url: str, error: httpx.RequestError) -> None:
        self.reason = str(error) or type(error).__name__
        self.never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        super().__init__(
            f"no answer from {base_url}: {self.reason}. Is the service running there? "
            "`agent-rft up` prints its base_url.",
            exit_code=NO_ANSWER,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    url: str
    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class ListedRows:
    data: list[dict[str, Any]]
    has_more: bool


class Service:
    """Every method raises `ServiceError`."""

    def __init__(self, base_url: str, http: httpx.Client) -> None:
        self._base_url, self._http = base_url, http

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        most_bytes: int | None = None,
        endless: bool = False,
        also: int | None = None,
        timeout_s: float | None = None,
        **sent: Any,
    ) -> Iterator[Answer]:
        """Yields a reply of success or of the status `also`, bounded unless it is `endless`."""
        timeout = TIMEOUT if timeout_s is None else httpx.Timeout(timeout_s, connect=5.0)
        asked = query(params or {})
        try:
            with self._http.stream(method, path, params=asked, timeout=timeout, **sent) as reply:
                _check_encoding(reply)
                host, chunks = reply.url.host, reply.iter_raw()
                if not reply.is_success and reply.status_code != also:
                    raise _failure(reply, b"".join(_bounded(chunks, REPLY_BYTES, host)))
                if not endless and "content-length" not in reply.headers:
                    chunks = _bounded(chunks, most_bytes or DOWNLOAD_BYTES, host)
                yield Answer(str(reply.url), reply.status_code, reply.headers, chunks)
        except (httpx.InvalidURL, httpx.LocalProtocolError, httpx.UnsupportedProtocol) as error:
            raise _unusable_address(self._base_url, error) from error
        except UnicodeEncodeError as error:  # the client is made: it is the request
            raise not_text() from error
        except httpx.RequestError as error:
            raise NoAnswer(self._base_url, error) from error

    def send(self, method: str, path: str, **sent: Any) -> Reply:
        with self.stream(method, path, **sent) as answer:
            host = httpx.URL(answer.url).host
            content = b"".join(_bounded(answer.chunks, REPLY_BYTES, host))
        try:
            read = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise unreadable_reply(answer.url) from error
        if not isinstance(read, dict):
            raise unreadable_reply(answer.url)
        return Reply(read)

    def get(self, path: str, **params: Any) -> Reply:
        return self.send("GET", path, params=params)

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Reply:
        return self.send("POST", path, json=body, timeout_s=timeout_s)

    def delete(self, path: str) -> Reply:
        return self.send("DELETE", path)

    def create(self, path: str, body: Mapping[str, Any]) -> Reply:
        """Each try has the same `Idempotency-Key`: a proxy may lose the reply."""
        headers = {"Idempotency-Key": uuid4().hex}
        waits, lost = iter(_CREATE_WAITS_S), False
        while True:
            try:
                return self.send("POST", path, json=body, headers=headers)
            except NoAnswer as failure:
                lost = lost or not failure.never_sent
                last: ServiceError = failure
            except ServiceError as failure:
                at_work = lost and failure.error.get("code") == IdempotencyKeyInUse.default_code
                if failure.error.get("status") not in _PROXY_ERRORS and not at_work:
                    raise
                lost, last = True, failure
            if not lost:
                raise last
            if (wait_s := next(waits, None)) is None:
                raise _unknown(path, last) from last
            time.sleep(wait_s)

    def rows(self, path: str, *, limit: int, **params: Any) -> ListedRows:
        found: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            page_size = min(_MOST_ROWS, limit - len(found))
            page = self.get(path, limit=page_size, after=after, **params)
            page.get("data", list)
            rows = page.children("data")
            found += [row.data for row in rows]
            has_more = page.find("has_more", bool) or False
            if not has_more or len(found) >= limit:
                return ListedRows(found[:limit], has_more or len(found) > limit)
            before, after = after, Reply(rows[-1].data).id() if rows else None
            if after in (None, before):
                raise unreadable_reply(path)


def query(params: Mapping[str, Any]) -> dict[str, Any]:
    """Raises `ServiceError` for an empty parameter: the service would read it as absent."""
    for name, value in params.items():
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            raise WrongOption(f"an empty text for '{name}': name a value, or leave the option out")
    return {name: value for name, value in params.items() if value is not None}


@contextmanager
def service(base_url: str | None, api_key: str | None) -> Iterator[Service]:
    if not base_url:
        raise WrongOption(
            "no service is named: pass --base-url or set AGENT_RFT_BASE_URL, or a --profile"
        )
    if not api_key:
        raise WrongOption(
            "no key is given: pass --api-key or set AGENT_RFT_API_KEY, or a --profile"
        )
    try:
        http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            event_hooks={"response": [_forget_redirect]},
        )
    except httpx.InvalidURL as error:
        raise _unusable_address(base_url, error) from error
    except UnicodeEncodeError as error:
        raise WrongOption(
            "not a usable --base-url or --api-key: a character is not ASCII"
        ) from error
    with http:
        yield Service(base_url, http)


def _forget_redirect(reply: httpx.Response) -> None:
    # The client would prepare a request that is never sent, and fail where it is not a URL.
    reply.headers.pop("location", None)


def _unusable_address(base_url: str, error: Exception) -> ServiceError:
    if isinstance(error, httpx.UnsupportedProtocol):
        text = (
            f"--base-url is not an address: {base_url}. It begins with http:// or https://, as "
            "`up` prints it."
        )
    else:
        text = f"not a usable --base-url or --api-key: {type(error).__name__}"
    return WrongOption(text)


def _check_encoding(reply: httpx.Response) -> None:
    encoding = reply.headers.get("content-encoding", "")
    if encoding.strip().lower() not in ("", "identity"):
        raise ServiceError(
            f"{reply.url.host} answered in the content encoding {encoding[:40]!r}, which was not "
            "asked for. Is a proxy between this machine and the service?",
            exit_code=NO_ANSWER,
        )


def _bounded(chunks: Iterable[bytes], most_bytes: int, host: str) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > most_bytes:
            named = (
                f"{most_bytes // 1024**3} GB"
                if most_bytes >= 1024**3
                else f"{most_bytes // 1024**2} MB"
            )
            raise ReplyTooLong(
                f"{host} sent more than {named} in one reply, which no agent-rft service does. "
                "Check the address.",
                exit_code=NO_ANSWER,
            )
        yield chunk


def _failure(reply: httpx.Response, content: bytes) -> ServiceError:
    status, error = reply.status_code, _error(content)
    if error is None:
        text = f"{reply.reason_phrase}. Is {reply.url.host} an agent-rft service, and its path /v1?"
    else:
        text = str(error.get("message"))
    message = f"the service answered {status}: {text}"
    if status == _UNAUTHORIZED:
        message += " Check --api-key or AGENT_RFT_API_KEY."
    code = _CODES.get(status, TRY_LATER if status >= _SERVER_ERRORS else REQUEST_REFUSED)
    if error is None and status not in _STATUSES_OF_PROXIES:
        code = NO_ANSWER
    if code == TRY_LATER:
        seconds = reply.headers.get("retry-after")
        message += f" Try again in {seconds} s." if seconds else " Try again later."
    return ServiceError(message, exit_code=code, error={**(error or {}), "status": status})


def _error(content: bytes) -> dict[str, Any] | None:
    try:
        error = json.loads(content)["error"]
        return {key: error[key] for key in ("message", "type", "param", "code") if key in error}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _unknown(path: str, failure: ServiceError) -> CreationUnknown:
    noun = path.rsplit("/", 1)[-1]
    reason = f"no answer ({failure.reason})" if isinstance(failure, NoAnswer) else str(failure)
    return CreationUnknown(
        f"{reason} The call may have been carried out: list the {noun} before you try again.",
        exit_code=failure.exit_code,
        error=failure.error,
    )


_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 10.0
PATIENCE_S: Final = 300.0
"""Seconds without a reply of the service after which following ends; an upgrade takes less."""


class ServicePatience:
    """Waits longer between tries, until `PATIENCE_S` have passed since the last reply."""

    def __init__(self, advice: str, *, patience_s: float = PATIENCE_S) -> None:
        """`advice` is the sentence added to the failure of a service that stays unavailable."""
        self._advice, self._patience_s = advice, patience_s
        self._heard_at = time.monotonic()
        self._wait_s = _FIRST_WAIT_S

    def heard(self) -> None:
        self._heard_at, self._wait_s = time.monotonic(), _FIRST_WAIT_S

    def reason(self, failure: ServiceError) -> str:
        """Raises the failure if a retry cannot help, and `ServiceError` after `PATIENCE_S`."""
        if isinstance(failure, NoAnswer):
            return self.check(failure.reason)
        if failure.exit_code != TRY_LATER:
            raise failure
        return self.check(str(failure))

    def check(self, reason: str) -> str:
        if time.monotonic() - self._heard_at >= self._patience_s:
            raise ServiceError(
                f"the service did not come back for {self._patience_s:.0f} s ({reason}). "
                f"{self._advice}",
                exit_code=NO_ANSWER,
            )
        return reason

    def wait(self) -> None:
        time.sleep(self._wait_s)
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
