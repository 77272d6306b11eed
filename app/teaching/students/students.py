"""Students and their skills. Pure.

A student is a name for a base model and the skills that it learned; a skill is the tuned model of a
succeeded job. At most one skill is current, and calls of `student:NAME` are answered by its model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import fmean
from typing import Any, Final, TypedDict

from app.files.conversations import INSTRUCTIONS
from app.files.datasets import prompt_messages
from app.files.rows import json_rows
from app.jobs.intervals import FEWEST_ROWS, Gain, difference, paired_gain, range_of_scores
from app.jobs.supervised import MethodType
from app.kit.errors import NotFound
from app.kit.fields import DescribedFields
from app.models.chat import text_of

MARGIN: Final = 0.02
"""Largest loss, in units of the score, that counts as none. See docs/decisions/teaching.md."""
_MEASURES: Final = (("reward", "reward"), ("preference_accuracy", "accuracy of preferences"))
_NO_REGRESSION_SET: Final = (
    "No regression set: the student lists no evals in `regression_evals`, so nothing shows that "
    "what it could do before is kept."
)


@dataclass(frozen=True, slots=True)
class Comparison:
    subject: str
    difference: float | None
    """Mean over rows of the new model's score less the old one's."""
    interval: tuple[float, float] | None
    rows: int
    fault: str | None = None
    """The reason for which the models cannot be compared."""
    unchanged: bool = False
    """True if every row has the same score under both models."""

    @property
    def passes(self) -> bool:
        return self.excludes_a_loss or (self.unchanged and self.rows >= FEWEST_ROWS)

    @property
    def excludes_a_loss(self) -> bool:
        if self.fault is not None or self.interval is None:
            return False
        low, high = self.interval
        return low >= -MARGIN and high >= 0

    @property
    def words(self) -> str:
        if self.fault is not None:
            return f"{self.subject}: {self.fault}."
        gain = Gain(self.difference or 0.0, self.interval, self.rows)
        if self.unchanged and self.passes:
            return f"{self.subject}: {gain.words}; no row changed."
        if self.interval is None:
            return f"{self.subject}: {gain.words}, so a loss is not excluded."
        if self.interval[0] >= -MARGIN and self.interval[1] < 0:
            return f"{self.subject}: {gain.words}; that is a loss."
        verdict = "excluded" if self.excludes_a_loss else "not excluded"
        return f"{self.subject}: {gain.words}; a loss of more than {MARGIN} is {verdict}."


def verdict(target: Comparison, regressions: Sequence[Comparison]) -> tuple[bool, str]:
    compared = [target, *regressions]
    sentences = [comparison.words for comparison in compared if not comparison.passes]
    if not regressions:
        sentences.append(_NO_REGRESSION_SET)
    if sentences:
        return False, " ".join(sentences)
    return True, " ".join(comparison.words for comparison in compared)


def target_comparison(report: Mapping[str, Any] | None) -> Comparison:
    """Returns the comparison of a job's paired report: rewards, at a student's temperature if the
    job measured them there, or the accuracy of preferences.
    """
    if report is None:
        return uncompared("target", "the job has no paired report; give it a validation file")
    compared = report.get("greedy") or report
    for key, _ in _MEASURES:
        values = compared.get(key)
        if isinstance(values, Mapping) and values.get("difference") is not None:
            interval = values.get("difference_ci95")
            ends = None if interval is None else (float(interval[0]), float(interval[1]))
            rows = int(compared.get("rows") or 0)
            moved = [values["difference"], compared.get("wins"), compared.get("losses")]
            unchanged = all(each == 0 for each in moved)
            return Comparison(
                "target", float(values["difference"]), ends, rows, unchanged=unchanged
            )
    named = " and no ".join(name for _, name in _MEASURES)
    return uncompared("target", f"the job's report compares no {named}")


def eval_comparison(
    eval_id: str, before: Mapping[int, float], after: Mapping[int, float], *, unscored: int
) -> Comparison:
    """`unscored` rows have no score: a model without its failures would look too good."""
    if unscored:
        noun = "answer" if unscored == 1 else "answers"
        return uncompared(eval_id, f"{unscored} {noun} could not be sampled or scored")
    bounds = range_of_scores(before.values(), after.values())
    gain = paired_gain(before, after, bounds=bounds)
    if gain is None:
        return uncompared(eval_id, "its runs have no rows")
    unchanged = not any(difference(before[row], after[row]) for row in before if row in after)
    return Comparison(eval_id, gain.mean, gain.interval, gain.rows or 0, unchanged=unchanged)


def row_scores(
    results: Sequence[tuple[int, Sequence[Mapping[str, Any]]]],
) -> tuple[dict[int, float], int]:
    scores: dict[int, list[float]] = {}
    unscored = 0
    for row, of_criteria in results:
        values = [each.get("score") for each in of_criteria]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if numbers and len(numbers) == len(values):
            scores.setdefault(row, []).extend(numbers)
        else:
            unscored += 1
    return {row: fmean(numbers) for row, numbers in scores.items()}, unscored


def uncompared(subject: str, fault: str) -> Comparison:
    return Comparison(subject, None, None, 0, fault)


MAX_REGRESSION_EVALS: Final = 16


class SkillStatus(StrEnum):
    """State of a skill at the gate; the last two are final."""

    RUNNING = "running"
    PASSED = "passed"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class RegressionRows(DescribedFields):
    """A regression set of a student: an eval, and the run whose rows the gate samples."""

    eval_id: str
    """Id of the eval, whose criteria score the answers."""
    run_id: str
    """Id of the run whose data source has the rows. A later run of the eval changes nothing."""


BASE: Final = ""
"""The version of a student that has no skill: its base model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    name: str
    base_model: str
    regression_sets: tuple[RegressionRows, ...] = ()
    current_skill: str | None = None
    """Id of the skill that answers; `None` while the base model does."""
    edited_instructions: Mapping[str, str] = field(default_factory=dict)
    """Texts that replace the instructions of a version, by the id of its skill, or `BASE`."""
    instructions: str | None = None
    """Those of the version that answers."""
    created_at: int = 0

    def instructions_of(self, skill: "Skill") -> str | None:
        return self.edited_instructions.get(skill.id, skill.instructions) or None


class StudentChanges(TypedDict, total=False):
    """What an update sets; absent keys stay."""

    regression_evals: Sequence[str]
    instructions: str | None
    """Of the version that answers; `None`: those of its examples."""


@dataclass(frozen=True, slots=True)
class GateRuns(DescribedFields):
    """The runs of one eval, on the same rows."""

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
    instructions: str | None = None
    """The system message of the examples that it was trained on."""
    status: SkillStatus
    reason: str | None = None
    """The gate's verdict as sentences with numbers; `None` while it runs."""
    runs: tuple[GateRuns, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    """The target's comparison, then one for each eval; empty while the gate runs."""
    promoted_at: int | None = None
    """Time at which it last became current; `None` if it never was."""
    created_at: int = 0


def common_instructions(path: Path, method: MethodType) -> str | None:
    """Returns the system message with which more than half of a file's rows begin.

    The vote of Boyer and Moore: two passes, and one text in memory.
    """
    leader, lead = None, 0
    for said in _instructions(path, method):
        leader = said if lead == 0 else leader
        lead += 1 if said == leader else -1
    votes = [said == leader for said in _instructions(path, method)]
    return (leader or None) if 2 * sum(votes) > len(votes) else None


def _instructions(path: Path, method: MethodType) -> Iterator[str | None]:
    for row in json_rows(path):
        first = prompt_messages(method, row)[0]
        yield text_of(first["content"]) if first["role"] in INSTRUCTIONS else None


def no_student(name: str) -> NotFound:
    return NotFound(f"Student '{name}' does not exist.", param="name", code="student_not_found")


def no_skill(skill_id: str) -> NotFound:
    return NotFound(f"Skill '{skill_id}' does not exist.", param="skill", code="skill_not_found")
