"""The failure of a command that calls a running service."""

from typing import Any, Final

from app.cli.terminal.printable import printable
from app.domain.errors import AgentRftError
from app.domain.processes.exit_codes import FAILED

_LONGEST: Final = 2000


class ServiceError(AgentRftError):
    """A call of the service failed. Its text is one line that a terminal may show."""

    def __init__(
        self, message: str, *, exit_code: int = FAILED, error: dict[str, Any] | None = None
    ) -> None:
        """`error` has the status and the error object of the service's reply."""
        shown = printable(message)
        super().__init__(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")
        self.exit_code = exit_code
        self.error = error or {}


class CreationUnknown(ServiceError):
    """A create call has no answer of the service: the object may exist."""
