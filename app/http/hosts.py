"""Refuses requests under a name that is not this service's."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from app.http.error_replies import error_reply
from app.http.requests import Middleware
from app.kit.errors import InvalidRequest
from app.settings import Settings

_PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Called by address, by what watches the service."""


class AcceptedHosts(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _PROBES:
            settings: Settings = scope["app"].state.context.settings
            if not _accepts(settings.accepted_hosts, Headers(scope=scope).get("host", "")):
                refused = InvalidRequest(
                    "This service does not answer under the name of the 'Host' header.",
                    param="host",
                    code="host_not_accepted",
                )
                await error_reply(refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _accepts(accepted: Sequence[str], sent: str) -> bool:
    try:
        name = urlsplit(f"//{sent}").hostname or ""
    except ValueError:
        name = ""
    return not accepted or any(
        name == one or (one.startswith("*.") and name.endswith(one[1:])) for one in accepted
    )
