"""What a check of a call found: faults of it, and parts of it that change nothing."""

from dataclasses import dataclass
from typing import Final, Literal

from app.kit.errors import InvalidRequest

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


def moved_fault(fault: InvalidRequest, root: str, new: str) -> InvalidRequest:
    """Returns the error of a parameter below `root` as one below `new`, in its message too."""
    param = fault.param
    if param is not None and (param == root or param.startswith((f"{root}.", f"{root}["))):
        param = new + param.removeprefix(root)
    return InvalidRequest(
        fault.message.replace(f"'{root}", f"'{new}"), param=param, code=fault.code
    )


CONSTANT_GRADER: Final = "constant_grader"
UNUSED_OPTION: Final = "unused_option"


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A part of a call that changes nothing."""

    code: str
    param: str
    message: str


def unused_option(param: str, why: str) -> NoEffect:
    """Returns the finding about an option that changes nothing, with the reason."""
    return NoEffect(UNUSED_OPTION, param, f"'{param}' changes nothing: {why}")
