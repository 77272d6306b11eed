"""The words for the gate's decision need no statistics, and contain what to do."""

from app.pages.student_progress import headline, verdicts
from app.teaching.students.students import Comparison, Skill, SkillStatus
from tests.support.cases import cases

GAIN = Comparison("target", 0.4, (0.1, 0.8), 10)


def skill(*comparisons: Comparison, status: SkillStatus = SkillStatus.HELD) -> Skill:
    return Skill(
        id="skill_1",
        student="clerk",
        job_id="ftjob-1",
        model="ft",
        baseline="m",
        status=status,
        comparisons=comparisons,
    )


@cases(
    ("found", "said", "passed"),
    [
        (
            Comparison("eval_1", 0.0, (-0.26, 0.26), 12, unchanged=True),
            "Nothing changed (over 12 questions).",
            True,
        ),
        (
            Comparison("eval_1", 0.1, (-0.2, 0.4), 12),
            (
                "A loss of more than 2 points cannot be ruled out (over 12 questions; between "
                "-20 and +40 points of 100). More questions make this surer."
            ),
            False,
        ),
        (
            Comparison("eval_1", 0.1, None, 3),
            "3 questions are too few to tell. Add more, and propose it again.",
            False,
        ),
        (
            Comparison("eval_1", None, None, 0, "a run of the gate is failed"),
            "It could not be compared: a run of the gate is failed.",
            False,
        ),
    ],
)
def test_a_comparison_is_one_sentence(found: Comparison, said: str, passed: bool) -> None:
    target, other = verdicts(skill(GAIN, found), {"eval_1": "Refunds"})
    assert (target.subject, target.passed) == ("What it practised", True)
    assert target.sentence.startswith("Better by 40 points (over 10 questions; between +10 and +80")
    assert (other.subject, other.sentence, other.passed) == ("Refunds", said, passed)


def test_the_words_for_an_empty_list_contain_the_cure() -> None:
    _, missing = verdicts(skill(GAIN), {})
    assert "Nothing is on the list" in missing.sentence
    assert not missing.passed


def test_an_open_gate_has_no_verdict_yet() -> None:
    waiting = skill(status=SkillStatus.RUNNING)
    assert list(verdicts(waiting, {})) == []
    assert headline(waiting) == "The gate is comparing it with the version that answers now."
