"""A group judge is asked once per group; its scores are journalled under the group's key."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.graders.kinds.ai_judge import GroupGradeRequest
from app.graders.scorer import GraderErrors, ScoreFault, ScoreResult, TokenUsage
from app.kit.ids import GroupKey
from app.rollouts.trajectory import (
    Failure,
    FailureClass,
    Grade,
    GradeOrFailure,
    TokenRow,
    Trajectory,
    Turn,
)
from tests.support.cases import cases
from tests.support.grading.group_judges import RankingJudge
from tests.support.rollout.rollouts import row
from tests.support.runs.journals import as_stored
from workers.grading.job_grader import GroupGrader
from workers.journal import AdapterJournal, InMemoryJournal

GROUP = GroupKey("ftjob-1", "train", 2, 5, 1)
ANSWERS = ("the longest", "two", "short")


def played(answers: Sequence[str] = ANSWERS, group: GroupKey = GROUP) -> list[Trajectory]:
    question = {"role": "user", "content": "q"}
    return [
        Trajectory(
            key,
            [TokenRow([5], [1], [-0.5])],
            [Turn((5,), (-0.5,), 1, answer, 0, "stop")],
            [question, {"role": "assistant", "content": answer}],
        )
        for key, answer in zip(group.samples(len(answers)), answers, strict=True)
    ]


@dataclass
class ScriptedJudge:
    """Answers with a script and counts how often it is asked."""

    script: Callable[[GroupGradeRequest], Sequence[ScoreResult]]
    asked: int = 0

    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult]:
        self.asked += 1
        return self.script(request)


async def test_a_judge_sees_the_siblings_the_item_and_the_tools() -> None:
    judge = RankingJudge()
    example = row("search", answer="42")
    verdicts = await GroupGrader("ranks", judge).score(played(), example, journal=InMemoryJournal())
    assert verdicts == [Grade(1.0, measures={"": {"latency_s": 0.0}}), _grade(0.0), _grade(0.5)]
    (request,) = judge.asked
    assert [conversation[-1]["content"] for conversation in request.conversations] == list(ANSWERS)
    assert request.item["answer"] == "42"
    assert [tool["function"]["name"] for tool in request.tools] == ["search"]
    assert request.call_id == GROUP.grade_id("ranks")
    assert request.trace_id == GROUP.trace_id


async def test_a_resumed_journal_answers_for_the_judge() -> None:
    judge, journal = RankingJudge(), InMemoryJournal()
    grader = GroupGrader("ranks", judge)
    first = await grader.score(played(), row(), journal=journal)
    assert list(journal.entries) == [GROUP.grade_id("ranks")], "one entry for the whole group"
    resumed = as_stored(journal)
    # The scores depend on the conversations only, whichever adapter is served after the resume.
    assert await grader.score(played(), row(), journal=AdapterJournal(resumed, "new")) == first
    assert len(judge.asked) == 1


async def test_another_group_or_other_siblings_are_judged_anew() -> None:
    judge, journal = RankingJudge(), InMemoryJournal()
    grader = GroupGrader("ranks", judge)
    for group in (GROUP, replace(GROUP, attempt=2), replace(GROUP, step=3)):
        await grader.score(played(group=group), row(), journal=journal)
    assert (len(judge.asked), len(journal.entries)) == (3, 3)
    two = await grader.score(played()[:2], row(), journal=journal)
    assert two == [_grade(1.0), _grade(0.0)], "the third sibling was lost before the resume"
    assert len(judge.asked) == 4
    await GroupGrader("other", judge).score(played(), row(), journal=journal)
    assert len(judge.asked) == 5


async def test_a_group_without_survivors_calls_no_judge() -> None:
    judge = RankingJudge()
    assert await GroupGrader("ranks", judge).score([], row(), journal=InMemoryJournal()) == []
    assert judge.asked == []


async def test_a_fault_costs_the_group_and_is_judged_again_after_a_resume() -> None:
    def unavailable(_request: GroupGradeRequest) -> Sequence[ScoreResult]:
        raise ScoreFault("timeout", "no reply in 5 s", source="ranks", errors=GraderErrors())

    judge, journal = ScriptedJudge(unavailable), InMemoryJournal()
    grader = GroupGrader("ranks", judge)
    lost: list[GradeOrFailure] = [
        Failure(FailureClass.GRADER_TIMEOUT, "no reply in 5 s", "ranks")
    ] * 3
    assert await grader.score(played(), row(), journal=journal) == lost
    assert journal.entries == {}
    judge.script = lambda _: [ScoreResult(0.5)] * 3
    assert await grader.score(played(), row(), journal=journal) == [_grade(0.5)] * 3
    assert judge.asked == 2


@cases("count", [0, 2, 4])
async def test_a_wrong_number_of_scores_is_a_bad_reply(count: int) -> None:
    judge, journal = ScriptedJudge(lambda _: [ScoreResult(1.0)] * count), InMemoryJournal()
    verdicts = await GroupGrader("ranks", judge).score(played(), row(), journal=journal)
    message = f"gave {count} scores for 3 rollouts"
    assert verdicts == [Failure(FailureClass.GRADER_BAD_REPLY, message, "ranks")] * 3
    assert journal.entries == {}


@cases(
    ("score", "shown"),
    [
        (2e9, "2e+09"),
        (-2e9, "-2e+09"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "nan"),
        (10**400, "of more than 308 digits"),
    ],
    ids=["large", "negative", "inf", "-inf", "nan", "integer"],
)
async def test_a_score_out_of_range_costs_its_own_rollout_only(score: float, shown: str) -> None:
    judge = ScriptedJudge(lambda _: [ScoreResult(value) for value in (0.25, score, 0.75)])
    grader, journal = GroupGrader("ranks", judge), InMemoryJournal()
    verdicts = await grader.score(played(), row(), journal=journal)
    message = f"the score {shown} is beyond ±1e+09"
    failure = Failure(FailureClass.GRADER_BAD_SCORE, message, "ranks", details=message)
    assert verdicts == [_grade(0.25), failure, _grade(0.75)]
    json.dumps([payload for _, payload in journal.entries.values()], allow_nan=False)
    assert await grader.score(played(), row(), journal=as_stored(journal)) == verdicts
    assert judge.asked == 1, "the failure is replayed as the other verdicts are"


async def test_rollouts_without_a_score_share_the_tokens_of_the_judge() -> None:
    used = {"j": TokenUsage(9, 3, 0, calls=3)}

    def fail(_: GroupGradeRequest) -> Sequence[ScoreResult]:
        raise ScoreFault("bad_reply", "no", source="ranks", errors=GraderErrors(), token_usage=used)

    verdicts = await GroupGrader("ranks", ScriptedJudge(fail)).score(
        played(), row(), journal=InMemoryJournal()
    )
    third = {"prompt_tokens": 3.0, "completion_tokens": 1.0, "cached_tokens": 0.0} | {
        "judge_calls": 1.0
    }
    failure = Failure(FailureClass.GRADER_BAD_REPLY, "no", "ranks", measures={"": third})
    assert verdicts == [failure] * 3
    huge = ScriptedJudge(lambda _: [ScoreResult(2e9, token_usage=used)] * 3)
    verdicts = await GroupGrader("ranks", huge).score(played(), row(), journal=InMemoryJournal())
    assert [verdict.measures[""]["prompt_tokens"] for verdict in verdicts] == [9.0] * 3


async def test_a_latency_that_is_not_finite_is_journalled_as_zero() -> None:
    result = ScoreResult(0.5, execution_time_s=float("nan"))
    judge, journal = ScriptedJudge(lambda _: [result] * 3), InMemoryJournal()
    verdicts = await GroupGrader("ranks", judge).score(played(), row(), journal=journal)
    assert verdicts == [_grade(0.5)] * 3


def _grade(score: float) -> Grade:
    return Grade(score, measures={"": {"latency_s": 0.0}})
