"""Settings of the calls to customers' endpoints."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from app.settings.sources import SettingsSection

_HOST_PORT = re.compile(r"^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$")


def _host_port(value: str) -> str:
    match = _HOST_PORT.match(value)
    if match is None or not 0 < int(match[2]) < 65536:  # noqa: PLR2004 - the TCP port range
        raise ValueError(f"{value!r} is not HOST:PORT, e.g. 127.0.0.1:9000 or [::1]:9000")
    return value.lower()


HostPort = Annotated[str, AfterValidator(_host_port)]


class EgressSettings(SettingsSection):
    """Rules for calls to customers' tools and graders. Times in seconds, sizes in bytes."""

    allow_endpoints: tuple[HostPort, ...] = ()
    """Exact HOST:PORT exempt from the address check; `localhost`, `127.0.0.1` and `[::1]` stand for
    each other.
    """
    allow_plain_http: bool = False
    """True admits `http://` to allowed endpoints, for development only."""
    call_timeout_s: float = Field(600.0, gt=0)
    """Time of one call of a tool, grader or environment, all attempts together."""
    max_retries: int = Field(3, ge=0, le=10)
    """Attempts after the first one for an endpoint that fails."""
    max_body_bytes: int = Field(1_048_576, gt=0)
    """Size of the largest reply that is read."""
