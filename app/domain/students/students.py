"""Students and their skills. Pure.

A student is a name for a base model and the skills that it learned; a skill is the tuned model of a
succeeded job. At most one skill is current, and calls of `student:NAME` are answered by its model.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.domain.errors import NotFound
from app.domain.students.gate import Comparison

PREFIX: Final = "student:"
"""First part of a student's name where a model is named."""
MAX_REGRESSION_EVALS: Final = 16


class SkillStatus(StrEnum):
    """State of a skill at the gate; the last two are final."""

    RUNNING = "running"
    PASSED = "passed"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class RegressionSet:
    """An eval with the rows in which a new skill must lose nothing."""

    eval_id: str
    run_id: str
    """Id of the run whose data source has the rows; a later run of the eval changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    name: str
    base_model: str
    regression_sets: tuple[RegressionSet, ...] = ()
    current_skill: str | None = None
    """Id of the skill that answers; `None` while the base model does."""
    created_at: int = 0


@dataclass(frozen=True, slots=True)
class RunPair:
    """The runs of one eval on the same rows."""

    eval_id: str
    before: str
    """Id of the run of the model that the skill would replace."""
    after: str
    """Id of the run of the skill's model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    id: str
    student: str
    job_id: str
    model: str
    baseline: str
    """The model that answered for the student when the skill was proposed."""
    status: SkillStatus
    reason: str | None = None
    """The gate's verdict as sentences with numbers; `None` while it runs."""
    runs: tuple[RunPair, ...] = ()
    comparisons: tuple[Comparison, ...] = field(default=())
    """The target's comparison, then one for each eval; empty while the gate runs."""
    promoted_at: int | None = None
    """Time at which it last became current; `None` if it never was."""
    created_at: int = 0


def student_named(model: str) -> str | None:
    """Returns the student that a model's name refers to; `None` for any other model."""
    return model.removeprefix(PREFIX) if model.startswith(PREFIX) else None


def unknown_student(name: str) -> str:
    """Returns the sentence about a model's name whose student the project does not have."""
    return f"Student '{name}' does not exist: GET /v1/students lists the students that there are."


def no_student(name: str) -> NotFound:
    return NotFound(f"Student '{name}' does not exist.", param="name", code="student_not_found")


def no_skill(skill_id: str) -> NotFound:
    return NotFound(f"Skill '{skill_id}' does not exist.", param="skill", code="skill_not_found")
