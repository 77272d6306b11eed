"""`python`: the customer's own function in the sandbox. Source: the hosted graders guide."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.grader_model import GraderModel
from app.domain.graders.python_source import SourceFault, check_size


class PythonGrader(GraderModel):
    """A function `grade(sample, item)` that returns the score; it runs in the sandbox."""

    type: Literal["python"]
    name: str = Field(default="python", min_length=1, max_length=256)
    source: str
    """The source, at most 256,000 bytes, that defines `grade`. It can use no files, no network and
    no other process, and by default 5 seconds and 256 MiB, which the operator can change.
    """
    image_tag: str | None = Field(
        default=None, min_length=1, max_length=128, exclude_if=lambda value: value is None
    )
    """It is echoed without effect: the operator determines the modules."""

    @field_validator("source")
    @classmethod
    def _is_taken(cls, source: str) -> str:
        # `source_faults` parses it: this runs on the event loop, and for each stored grader.
        try:
            check_size(source)
        except SourceFault as fault:
            raise PydanticCustomError("source_error", "{fault}", {"fault": str(fault)}) from None
        return source

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return False
