"""Options that every built-in environment has.

Unknown keys are refused: a misspelt one would silently change the tasks.
"""

from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from app.domain.faults.closed_models import ClosedModel

MIN_TASKS: Final = 10


def _enough_held_out(sent: Any) -> Any:
    """Refuses too few held-out tasks with the reason: 0 is sent to validate on none."""
    if isinstance(sent, int) and not isinstance(sent, bool) and sent < MIN_TASKS:
        raise PydanticCustomError(
            "too_few_tasks",
            "a reinforcement job is validated on held-out tasks and cannot go without: it must be "
            "at least {least}",
            {"least": MIN_TASKS},
        )
    return sent


class EnvironmentOptions(ClosedModel):
    grader_options: ClassVar[frozenset[str]] = frozenset()
    """Names of the options of the environment's grader, which change no task."""

    seed: int = Field(default=0, ge=0, lt=2**63, strict=True)
    """Seed of the tasks: equal options and an equal seed give equal tasks."""
    training_tasks: int = Field(default=256, ge=MIN_TASKS, le=50_000, strict=True)
    """Number of tasks to train on."""
    validation_tasks: Annotated[int, BeforeValidator(_enough_held_out)] = Field(
        default=32, ge=MIN_TASKS, le=1000, strict=True
    )
    """Number of held-out tasks; none of them is a training task."""

    @property
    def problem_file(self) -> str | None:
        """The file with the problems, if the options name one."""
        return None

    @property
    def missing_option(self) -> str | None:
        """The option that the environment's grader needs but that is missing."""
        return None
