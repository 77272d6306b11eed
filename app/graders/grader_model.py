"""The base of grader configurations, and the errors of their validators.

An unknown key may hold one value, which is dropped with a warning.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.kit.fields import DescribedModel, OpenKeys

Number = Annotated[float, Field(strict=True)]
"""A number; texts and booleans are refused."""
Flag = Annotated[bool, Field(strict=True)]
"""A boolean; texts and numbers are refused."""
ANSWER: Final = "{{sample.output_text}}"
"""The template that graders of one text read by default: the last answer."""
MAX_PARTS: Final = 256
"""Largest number of entries of a list in a grader."""


def fault_at(
    field: str | int, message: str, *, kind: str = "grader_error", sent: Any = None
) -> ValidationError:
    """Returns an error at a field of the grader, from a validator of the whole."""
    fault = PydanticCustomError(kind, "{fault}", {"fault": message})
    return ValidationError.from_exception_data(
        "Grader", [{"type": fault, "loc": (field,), "input": sent}]
    )


class GraderModel(OpenKeys, DescribedModel):
    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"id": "a text", "version": "a number"}
    )
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)
    passing_score: ClassVar[float | None] = None
    """The lowest passing score if `pass_threshold` is absent; `None`: any score above 0 passes."""
    required_in_evals: ClassVar[tuple[str, ...]] = ()
    """Optional fields that a criterion of an eval must send."""
    compares_rollouts: ClassVar[bool] = False
    """True if it scores the rollouts of a group against each other."""
    needs_environment: ClassVar[bool] = False
    """True if it reads the rewards of an HTTP environment, so that only a job with one may have it.
    """

    pass_threshold: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """Lowest score that counts as passed in displayed results; it does not change the reward."""

    @model_validator(mode="before")
    @classmethod
    def _no_stray_secrets(cls, sent: Any) -> Any:
        """Refuses headers or keys of a grader that calls no address: dropping them would hide the
        mistake.
        """
        if not isinstance(sent, dict):
            return sent
        if sent.get("headers") is not None and "headers" not in cls.model_fields:
            raise fault_at("headers", "a grader of this type sends no requests")
        if sent.get("api_key") is not None:
            raise fault_at("api_key", "readers would see it: send it in 'headers'")
        return sent

    @property
    def highest(self) -> float | None:
        """The highest score, `None` if the definition does not limit it."""
        return None

    @property
    def lowest(self) -> float | None:
        """The lowest score, `None` if the definition does not limit it."""
        return None

    def out_of_reach(self, score: float) -> str | None:
        """Returns why a limit of scores is useless: every score reaches it, or none."""
        low, high = self.lowest, self.highest
        if (low is None or low < score) and (high is None or score <= high):
            return None
        shown = " to ".join("no limit" if end is None else f"{end:g}" for end in (low, high))
        return (
            f"the scores of the grader are from {shown}: send a number above the lowest and not "
            "above the highest, so that some rollouts can pass and some not"
        )

    @model_validator(mode="after")
    def _some_scores_pass(self) -> Self:
        reason = None if self.pass_threshold is None else self.out_of_reach(self.pass_threshold)
        if reason is not None:
            raise fault_at("pass_threshold", reason)
        return self

    @property
    def parts(self) -> "Mapping[str, GraderModel]":
        """The graders whose scores it combines, by name."""
        return {}

    @property
    def reads_environment(self) -> bool:
        """True if it, or a part of it, reads the rewards of the job's HTTP environment."""
        return self.needs_environment or any(part.reads_environment for part in self.parts.values())

    @property
    def unused_parts(self) -> tuple[str, ...]:
        """The names of the graders that it contains but does not use."""
        return ()

    @property
    def reads_beside_templates(self) -> bool:
        """True if the score depends on parts of the sample that no template names."""
        return False

    @property
    def parts_read_by_nature(self) -> tuple[str, ...]:
        """The parts of the sample that it scores instead of its template `input`, if it has one."""
        return ()

    @property
    def repeats_its_scores(self) -> bool:
        """True if the same rollout always gets the same score, so that no score needs to be
        journalled. Scores of a grader that calls an address or a judge are journalled anyway.
        """
        return True


class UnitGrader(GraderModel):
    """A grader whose scores are between 0 and 1."""

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0
