"""Issues of a create call, of a file or of a curriculum, found before a job runs."""

from dataclasses import dataclass
from typing import Literal

IssueSeverity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class PreflightIssue:
    """One fault. An error means that the job would be refused or fail; a warning that it would run
    badly.
    """

    severity: IssueSeverity
    code: str
    message: str
    param: str | None = None
    """The create call's parameter, dotted: `method.reinforcement.tools[0].server_url`."""
    line: int | None = None
    """Line of the file, from 1."""
    pointer: str | None = None
    """JSON pointer (RFC 6901) into that line."""
