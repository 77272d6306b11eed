"""The gate's decision in plain words. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from app.domain.students.gate import MARGIN, Comparison
from app.domain.students.students import Skill, SkillStatus

_TARGET: Final = "target"
_POINTS: Final = 100


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """The result of one comparison of the gate, for a reader without statistics."""

    subject: str
    sentence: str
    passed: bool


def headline(skill: Skill) -> str:
    match skill.status:
        case SkillStatus.RUNNING:
            return "The gate is comparing it with the version that answers now."
        case SkillStatus.PASSED if skill.promoted_at is not None:
            return "It passed the gate and was put to work."
        case SkillStatus.PASSED:
            return "It passed the gate: you may let it answer."
        case SkillStatus.HELD:
            return "The gate held it back, so it does not answer. The reasons:"
        case _:
            assert_never(skill.status)


def verdicts(skill: Skill, names: Mapping[str, str]) -> Iterator[ComparisonWords]:
    """Yields the comparisons of a decided skill. `names` are those of the evals."""
    if skill.status is SkillStatus.RUNNING:
        return
    for each in skill.comparisons:
        is_target = each.subject == _TARGET
        subject = "What it practised" if is_target else names.get(each.subject, each.subject)
        yield ComparisonWords(subject, _sentence(each), each.passes)
    if len(skill.comparisons) < 2:  # noqa: PLR2004 - the target alone
        yield ComparisonWords(
            "What it must not forget",
            "Nothing is on the list, so nobody can see whether something was lost. Choose what it "
            "must not forget, and propose it again.",
            False,
        )


def _sentence(found: Comparison) -> str:
    if found.fault is not None:
        return f"It could not be compared: {found.fault}."
    if found.interval is None:
        return f"{found.rows} questions are too few to tell. Add more, and propose it again."
    low, high = (round(_POINTS * end) for end in found.interval)
    if found.unchanged or low == high == 0:
        return f"Nothing changed (over {found.rows} questions)."
    middle = round(_POINTS * (found.difference or 0.0))
    measured = f"over {found.rows} questions; between {low:+d} and {high:+d} points of 100"
    if found.excludes_a_loss:
        change = f"Better by {middle} points" if middle > 0 else "Nothing was lost"
        return f"{change} ({measured})."
    if found.interval[1] < 0:
        return f"Worse by {-middle} points ({measured})."
    allowed = round(_POINTS * MARGIN)
    return (
        f"A loss of more than {allowed} points cannot be ruled out ({measured}). More questions "
        "make this surer."
    )
