"""`auto`: stands for the grader that fits the rows of a call; it scores nothing itself.

It is replaced when a job is made or checked, and in a trial run, so that no stored grader has this
type. Must not know the rules of the choice.
"""

from typing import Final, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.fields import JudgeName
from app.domain.graders.grader_model import GraderModel

AUTO: Final = "auto"
NEEDS_ROWS: Final = (
    "'auto' chooses a grader from rows: send it as the grader of a job, or with an 'item' to "
    "graders/run, and use the grader that it returns"
)


class AutoGrader(GraderModel):
    """The grader that fits the rows, chosen before the job exists (an extension)."""

    # A key that nothing reads would be lost with it, so that it is refused.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["auto"]
    name: str | None = Field(default=None, min_length=1, max_length=256)
    """Name of the chosen grader; absent: its type."""
    model: JudgeName | None = None
    """Name of a judge, for rows without a reference."""
