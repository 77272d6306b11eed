"""HTTP client of the commands that call a running service.

Owns: address, key, and the conversion of failed calls into `ServiceError`, whose message names the
failure and the remedy and never contains the key.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import httpx

from app.domain.errors import AgentRftError

_TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)
_UNAUTHORIZED: Final = 401


class ServiceError(AgentRftError):
    """A call of the service failed."""


@contextmanager
def service_client(base_url: str | None, api_key: str | None) -> Iterator[httpx.Client]:
    """Yields a client whose paths are relative to `base_url`. Raises `ServiceError` for missing
    options, and for a service that cannot be reached during the block.
    """
    if not base_url:
        raise ServiceError("no service is named: pass --base-url or set AGENT_RFT_BASE_URL")
    if not api_key:
        raise ServiceError("no key is given: pass --api-key or set AGENT_RFT_API_KEY")
    try:
        with httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"},
            timeout=_TIMEOUT,
        ) as client:
            yield client
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeEncodeError) as error:
        raise ServiceError(
            f"not a usable --base-url or --api-key: {type(error).__name__}"
        ) from error
    except httpx.TransportError as error:
        raise ServiceError(
            f"no answer from {base_url}: {str(error) or type(error).__name__}. Is the service "
            "running there? `agent-rft up` prints its base_url."
        ) from error


def check(reply: httpx.Response) -> None:
    """Raises `ServiceError` for a reply other than success."""
    if reply.is_success:
        return
    reply.read()
    message = f"the service answered {reply.status_code}: {_message(reply)}"
    if reply.status_code == _UNAUTHORIZED:
        message += " Check --api-key or AGENT_RFT_API_KEY."
    raise ServiceError(message)


def _message(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"{reply.reason_phrase}. Is {reply.url.host} an agent-rft service, and its path /v1?"
