"""Names a part of a call that is accepted and changes nothing."""

from dataclasses import dataclass
from typing import Final

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
