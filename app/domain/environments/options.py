"""Options that every built-in environment has.

Unknown keys are refused: a misspelt one would silently change the tasks.
"""

from typing import Any, ClassVar

from pydantic import ConfigDict, Field, model_validator

from app.domain.documents.described import DescribedModel
from app.domain.faults.closed_objects import known_keys


class EnvironmentOptions(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    grader_options: ClassVar[frozenset[str]] = frozenset()
    """Names of the options of the environment's grader, which change no task."""

    seed: int = Field(default=0, ge=0, lt=2**63, strict=True)
    """Seed of the tasks: equal options and an equal seed give equal tasks."""
    training_tasks: int = Field(default=256, ge=10, le=50_000, strict=True)
    """Number of tasks to train on."""
    validation_tasks: int = Field(default=32, ge=10, le=1000, strict=True)
    """Number of held-out tasks; none of them is a training task."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, sent: Any) -> Any:
        """Reports unknown keys with the nearest options, before the missing options that a
        misspelling causes.
        """
        return known_keys(sent, cls.model_fields)

    @property
    def problem_file(self) -> str | None:
        """The file with the problems, if the options name one."""
        return None

    @property
    def missing_option(self) -> str | None:
        """The option that the environment's grader needs but that is missing."""
        return None
