"""Ids of a service that a command sends back to it, in a path, a query or a header."""

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, Field, ValidationError

from app.cli.remote import Remote
from app.cli.replies import DOWNLOAD_BYTES, at_most, limited_client
from app.cli.terminal import CreationUnknown, ServiceError
from app.kit.errors import IdempotencyKeyInUse
from app.kit.processes import (
    NO_ANSWER,
    NOT_ALLOWED,
    NOT_FOUND,
    REQUEST_REFUSED,
    TRY_LATER,
    WRONG_OPTIONS,
)

_ID: Final = re.compile(r"[!-~]{1,256}")
ServiceId = Annotated[str, Field(pattern=rf"^{_ID.pattern}$")]
"""Another text could not be sent, and the user would be blamed for it."""


def is_service_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 10.0
PATIENCE_S: Final = 300.0
"""Seconds without a reply of the service after which following ends; an upgrade takes less."""


class ServicePatience:
    """Waits between tries, longer each time, until `PATIENCE_S` have passed since the last
    reply.
    """

    def __init__(self, advice: str, *, patience_s: float = PATIENCE_S) -> None:
        """`advice` is the sentence added to the failure of a service that stays unavailable."""
        self._advice, self._patience_s = advice, patience_s
        self._heard_at = time.monotonic()
        self._wait_s = _FIRST_WAIT_S

    def heard(self) -> None:
        self._heard_at, self._wait_s = time.monotonic(), _FIRST_WAIT_S

    def reason(self, failure: httpx.RequestError | ServiceError) -> str:
        """Returns the reason why the service is unavailable. Raises the failure if a retry cannot
        help, and `ServiceError` after `PATIENCE_S`.
        """
        if not may_pass(failure):
            raise failure
        return self.check(str(failure) or type(failure).__name__)

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


def may_pass(failure: httpx.RequestError | ServiceError) -> bool:
    """Returns whether the same call may succeed later."""
    if isinstance(failure, ServiceError):
        return failure.exit_code == TRY_LATER
    return not isinstance(failure, httpx.UnsupportedProtocol | httpx.LocalProtocolError)


TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)
_UNAUTHORIZED: Final = 401
_MOST_ROWS: Final = 100
"""Largest number of rows on a page of the service."""
_CODES: Final = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: NOT_FOUND, 429: TRY_LATER}
_SERVER_ERRORS: Final = 500
_PROXY_ERRORS: Final = frozenset({502, 503, 504})
_STATUSES_OF_PROXIES: Final = _PROXY_ERRORS | {401, 403, 429}
"""Statuses with which a proxy in front of a service may answer in its own words."""
_CREATE_WAITS_S: Final = (1.0, 2.0, 4.0)
"""Times between the tries of a create call."""
Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ListedRows:
    """The rows of a list up to the limit, and whether the service has more."""

    data: list[dict[str, Any]]
    has_more: bool


class Service:
    """Calls the API. Every method raises `ServiceError`; `httpx` errors leave the block of
    `service` as one.
    """

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        return json_object(self.http.get(path, params=query(params)))

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        limit = TIMEOUT if timeout_s is None else httpx.Timeout(timeout_s, connect=5.0)
        return json_object(self.http.post(path, json=body, timeout=limit))

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Creates one object, however often the call has to be sent: if a proxy loses the reply, a
        repeated call with the same `Idempotency-Key` gets it again.
        """
        headers = {"Idempotency-Key": uuid4().hex}
        waits, lost = iter(_CREATE_WAITS_S), False
        while True:
            failure: httpx.RequestError | ServiceError
            try:
                return json_object(self.http.post(path, json=body, headers=headers))
            except httpx.RequestError as error:
                failure = error
                lost = lost or not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            except ServiceError as error:
                failure = error
                status = error.error.get("status")
                at_work = lost and error.error.get("code") == IdempotencyKeyInUse.default_code
                if status not in _PROXY_ERRORS and not at_work:
                    raise
                lost = True
            if not lost:
                raise failure
            if (wait_s := next(waits, None)) is None:
                raise _unknown(path, failure) from failure
            time.sleep(wait_s)

    def delete(self, path: str) -> dict[str, Any]:
        return json_object(self.http.delete(path))

    def rows(self, path: str, *, limit: int, **params: Any) -> ListedRows:
        """Follows the pages of a list until it has `limit` rows."""
        found: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            page_size = min(_MOST_ROWS, limit - len(found))
            page = parse_reply(_Page, self.get(path, limit=page_size, after=after, **params))
            found += page.data
            if not page.has_more or len(found) >= limit:
                return ListedRows(found[:limit], page.has_more or len(found) > limit)
            before, after = after, page.last_id
            if after in (None, before):
                raise unreadable_reply(path)


class _Row(BaseModel):
    id: ServiceId


class _Page(BaseModel):
    data: list[dict[str, Any]]
    has_more: bool = False

    @property
    def last_id(self) -> str | None:
        """The id behind which the next page begins. Raises `ServiceError` for no usable id."""
        return parse_reply(_Row, self.data[-1]).id if self.data else None


def query(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters that were given. Raises `ServiceError` for an empty one: the service
    would read it as one that is absent, and answer with more than was asked for.
    """
    for name, value in params.items():
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            raise ServiceError(
                f"an empty text for '{name}': name a value, or leave the option out",
                exit_code=WRONG_OPTIONS,
            )
    return {name: value for name, value in params.items() if value is not None}


def path_of(*parts: str) -> str:
    """Returns a path with escaped parts, so that no id can lead to another path."""
    # A dot segment would be resolved by the client; the service has no such id.
    try:
        return "/".join(quote(part, safe="").replace(".", "%2E") for part in parts)
    except UnicodeEncodeError as error:
        raise _not_text() from error


@contextmanager
def service(base_url: str | None, api_key: str | None) -> Iterator[Service]:
    with service_client(base_url, api_key) as client:
        yield Service(client)


@contextmanager
def service_client(base_url: str | None, api_key: str | None) -> Iterator[httpx.Client]:
    """Yields a client whose paths are relative to `base_url`. Raises `ServiceError` for missing
    options, and for a service that cannot be reached during the block.
    """
    if not base_url:
        raise ServiceError(
            "no service is named: pass --base-url or set AGENT_RFT_BASE_URL, or a --profile",
            exit_code=WRONG_OPTIONS,
        )
    if not api_key:
        raise ServiceError(
            "no key is given: pass --api-key or set AGENT_RFT_API_KEY, or a --profile",
            exit_code=WRONG_OPTIONS,
        )
    try:
        with _client(base_url, api_key) as client:
            yield client
    except httpx.UnsupportedProtocol as error:
        raise ServiceError(
            f"--base-url is not an address: {base_url}. It begins with http:// or https://, as "
            "`up` prints it.",
            exit_code=WRONG_OPTIONS,
        ) from error
    except (httpx.InvalidURL, httpx.LocalProtocolError) as error:
        raise ServiceError(
            f"not a usable --base-url or --api-key: {type(error).__name__}",
            exit_code=WRONG_OPTIONS,
        ) from error
    except UnicodeEncodeError as error:  # the client is made: it is the request
        raise _not_text() from error
    except httpx.RequestError as error:
        raise ServiceError(
            f"no answer from {base_url}: {str(error) or type(error).__name__}. Is the service "
            "running there? `agent-rft up` prints its base_url.",
            exit_code=NO_ANSWER,
        ) from error


def _client(base_url: str, api_key: str) -> httpx.Client:
    try:
        return limited_client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"},
            timeout=TIMEOUT,
        )
    except UnicodeEncodeError as error:
        raise ServiceError(
            "not a usable --base-url or --api-key: a character is not ASCII",
            exit_code=WRONG_OPTIONS,
        ) from error


def _not_text() -> ServiceError:
    return ServiceError("an argument is not UTF-8 text", exit_code=WRONG_OPTIONS)


def check(reply: httpx.Response) -> None:
    """Raises `ServiceError` for a reply other than success."""
    if reply.is_success:
        return
    reply.read()
    status, error = reply.status_code, _error(reply)
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
    raise ServiceError(message, exit_code=code, error={**(error or {}), "status": status})


def json_object(reply: httpx.Response) -> dict[str, Any]:
    check(reply)
    try:
        content = reply.json()
    except (ValueError, RecursionError) as error:
        raise unreadable_reply(str(reply.url)) from error
    if not isinstance(content, dict):
        raise unreadable_reply(str(reply.url))
    return content


def parse_reply(model: type[Reply], data: object) -> Reply:
    """Parses the parts of a reply that a command needs; other keys may change with versions."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        named = ", ".join(
            ".".join(map(str, fault["loc"])) for fault in error.errors(include_input=False)[:3]
        )
        raise ServiceError(
            f"the service's reply cannot be read ({named}). Is it an agent-rft service of this "
            "version?",
            exit_code=NO_ANSWER,
        ) from error


def _unknown(path: str, failure: httpx.RequestError | ServiceError) -> CreationUnknown:
    noun = path.rsplit("/", 1)[-1]
    named = isinstance(failure, ServiceError)
    reason = str(failure) if named else f"no answer ({str(failure) or type(failure).__name__})"
    return CreationUnknown(
        f"{reason} The call may have been carried out: list the {noun} before you try again.",
        exit_code=failure.exit_code if isinstance(failure, ServiceError) else NO_ANSWER,
        error=failure.error if isinstance(failure, ServiceError) else None,
    )


def unreadable_reply(where: str) -> ServiceError:
    return ServiceError(
        f"{where} did not answer as an agent-rft service does. Check the address and its path /v1.",
        exit_code=NO_ANSWER,
    )


def _error(reply: httpx.Response) -> dict[str, Any] | None:
    try:
        error = reply.json()["error"]
        return {key: error[key] for key in ("message", "type", "param", "code") if key in error}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LocalFile:
    path: Path
    size: int


def download(remote: Remote, path: str, out: Path, *, force: bool, **params: Any) -> LocalFile:
    """Downloads the file. Raises `ServiceError` for an existing file without `force`, for one that
    cannot be written, and for an interrupted reply.
    """
    target = out.expanduser().absolute()
    _check(target, force=force)
    try:
        return LocalFile(target, _written(remote, path, target, params))
    except OSError as error:
        raise ServiceError(
            f"{error.filename or target}: {error.strerror}", exit_code=WRONG_OPTIONS
        ) from error


def _check(target: Path, *, force: bool) -> None:
    """Refuses an existing file. A device or a directory is refused even with `force`, because the
    new file would replace it.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # nothing stands there, or the directory cannot be read: writing says which
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise ServiceError(f"{target} is not a file: choose another --out", exit_code=WRONG_OPTIONS)
    if not force:
        raise ServiceError(
            f"{target} exists: pass --force to replace it, or another --out",
            exit_code=WRONG_OPTIONS,
        )


def _written(remote: Remote, path: str, target: Path, params: dict[str, Any]) -> int:
    sent = query(params)
    descriptor, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file, remote.service() as service:
            bound = at_most(DOWNLOAD_BYTES)
            with service.http.stream("GET", path, params=sent, extensions=bound) as reply:
                check(reply)
                for chunk in reply.iter_raw(_CHUNK_BYTES):
                    file.write(chunk)
            size = file.tell()
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return size
