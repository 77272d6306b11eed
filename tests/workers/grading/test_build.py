"""The scorer of a job by its grader: each rollout alone, or a group by one question."""

import json
import re

from app.graders.definitions import read_grader
from app.graders.judge import JudgeQuestion, JudgeReply
from app.graders.scorer import GradingPorts
from app.kit.endpoints import CallSigner
from app.kit.ids import GroupKey
from app.rollouts.trajectory import Grade, TokenRow, Trajectory, Turn
from tests.support.endpoints import Reply, endpoint
from tests.support.grading.judges import CODED, InMemoryJudges
from tests.support.rollout.rollouts import SECRET_KEY, egress_to, pool, row
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.grading.job_grader import build_group_scorer
from workers.journal import InMemoryJournal

GROUP = GroupKey("ftjob-1", "train", 2, 5, 1)
JUDGE = {"type": "ai_judge", "name": "ranks", "model": "judge-1"}


def played(*answers: str) -> list[Trajectory]:
    question = {"role": "user", "content": "q"}
    return [
        Trajectory(
            key,
            [TokenRow([5], [1], [-0.5])],
            [Turn((5,), (-0.5,), 1, answer, 0, "stop")],
            [question, {"role": "assistant", "content": answer}],
        )
        for key, answer in zip(GROUP.samples(len(answers)), answers, strict=True)
    ]


def by_number(question: JudgeQuestion) -> JudgeReply:
    """Scores each rollout by the number that it answers with."""
    text = question.messages[1]["content"]
    found = re.findall(r'<rollout id="(\d+)">.*?"content": "(\d+)"', text, re.DOTALL)
    reasons = "".join(f"{name}: {answer}\n" for name, answer in found)
    said = reasons + json.dumps({CODED: {name: int(answer) / 10 for name, answer in found}})
    return JudgeReply(said, prompt_tokens=31, completion_tokens=2)


async def test_an_ai_judge_is_called_once_for_a_group_and_its_verdicts_are_journalled() -> None:
    judges, journal = InMemoryJudges(by_number), InMemoryJournal()
    async with endpoint(lambda _: Reply()) as server:
        egress = egress_to(server)
        ports = GradingPorts(
            pool(egress), CallSigner(SECRET_KEY, project_id="proj_a"), judges, InMemorySandbox()
        )
        scorer = build_group_scorer(read_grader(JUDGE), ports)
        group = played("2", "9", "5")
        assert await scorer.score_early(group[0], row(), journal=journal) is None
        verdicts = await scorer.score(group, row(), journal=journal)
        resumed = build_group_scorer(read_grader(JUDGE), ports)
        assert await resumed.score(group, row(), journal=journal) == verdicts
        await egress.aclose()
    grades = [verdict for verdict in verdicts if isinstance(verdict, Grade)]
    assert [grade.score for grade in grades] == [0.2, 0.9, 0.5]
    assert [grade.reasons for grade in grades] == [{"": "2"}, {"": "9"}, {"": "5"}]
    assert sum(grade.measures[""]["prompt_tokens"] for grade in grades) == 31
    assert len(judges.asked) == 1
    assert list(journal.entries) == [GROUP.grade_id("ranks")]
