"""Bounds how long a following command retries an unavailable service, so that an upgrade, a fault
of a proxy or a dropped connection does not end the command.
"""

import time
from typing import Final

import httpx

from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import NO_ANSWER, TRY_LATER

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
