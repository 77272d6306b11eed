"""Names a part of a call that is accepted and changes nothing."""

from dataclasses import dataclass
from typing import Final

CONSTANT_GRADER: Final = "constant_grader"


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A part of a call that changes nothing."""

    code: str
    param: str
    message: str
