"""Groups: one code path plays and scores rollouts, and scores rollouts from outside."""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from app.files.datasets import DatasetRow
from app.kit.ids import GroupKey, SampleKey
from app.rollouts.trajectory import Failure, FailureClass, Grade, ScoredRollout, Trajectory
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.grading.group_judges import RankingJudge
from tests.support.patience import PATIENCE_S
from tests.support.reinforcement.scored_rollouts import scored, scored_group
from tests.support.rollout.policies import Writer, call_text
from tests.support.rollout.rollouts import caller, egress_to, pool, row
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.job_grader import GraderFailure, GroupGrader, GroupScorer, PerSampleScorer
from workers.journal import InMemoryJournal, Journal
from workers.rollout.environment import EpisodeLimits, RolloutTools, SampledTurn, SamplingParams
from workers.rollout.episode import RolloutSetup, RolloutSlots, ScoredGroup, run_group, score_group

GROUP = GroupKey("ftjob-1", "train", 2, 5)


@dataclass
class LengthGrader:
    """Scores a rollout by the length of its answer; the answer "bad" makes it fail."""

    graded: list[SampleKey] = field(default_factory=list)

    async def grade(
        self,
        trajectory: Trajectory,
        row: DatasetRow,  # noqa: ARG002 - the protocol's
        key: SampleKey,
        *,
        journal: Journal,  # noqa: ARG002 - the protocol's
    ) -> Grade:
        self.graded.append(key)
        answer = trajectory.messages[-1]["content"]
        if answer == "bad":
            raise GraderFailure(Failure(FailureClass.GRADER_ERROR, "answered 500", "length"))
        return Grade(float(len(answer)))


def played_outside(writer: Writer, *answers: str) -> list[Trajectory]:
    """Builds trajectories by hand, as a client would post them."""
    example = row()
    prompt = writer.renderer.prompt_ids(example.messages, [])
    rollouts = []
    for key, answer in zip(GROUP.samples(len(answers)), answers, strict=True):
        rollout = Trajectory(key, prompt_tokens=len(prompt))
        rollout.continue_in(list(prompt))
        ids = [*writer.ids(answer), writer.end]
        rollout.row.extend_sampled(ids, [-0.5] * len(ids))
        rollout.messages = [*example.messages, {"role": "assistant", "content": answer}]
        rollouts.append(rollout)
    return rollouts


async def test_rollouts_from_outside_are_scored_one_by_one(writer: Writer) -> None:
    rollouts = played_outside(writer, "a", "bad", "abc")
    group = await score_group(
        rollouts, row(), scorer=PerSampleScorer(LengthGrader()), journal=InMemoryJournal()
    )
    assert group.rewards == [1.0, None, 3.0], "the failure of one stops no sibling"
    assert [rollout.trajectory for rollout in group.rollouts] == rollouts
    assert group.keys == tuple(GROUP.samples(3))
    assert group.rollouts[1].failure == Failure(FailureClass.GRADER_ERROR, "answered 500", "length")


async def test_rollouts_from_outside_are_ranked_beside_each_other(writer: Writer) -> None:
    judge, journal = RankingJudge(), InMemoryJournal()
    scorer = GroupGrader("ranks", judge)
    first, second, third = played_outside(writer, "abc", "a", "ab")
    group = await score_group([first, second, third], row(), scorer=scorer, journal=journal)
    assert group.rewards == [1.0, 0.0, 0.5]
    again = await score_group([first, second, third], row(), scorer=scorer, journal=journal)
    assert again == group
    assert len(judge.asked) == 1


async def test_a_rollout_that_has_its_verdict_keeps_it(writer: Writer) -> None:
    """A posted rollout may carry its reward, and a lost one its failure; a judge sees neither."""
    judge = RankingJudge()
    first, second, third, fourth = played_outside(writer, "abc", "a", "ab", "abcd")
    lost = Failure(FailureClass.TOOL_ERROR, "answered 500", "search")
    group = await score_group(
        [first, ScoredRollout.of(second, Grade(0.125)), ScoredRollout.of(third, lost), fourth],
        row(),
        scorer=GroupGrader("ranks", judge),
        journal=InMemoryJournal(),
    )
    assert group.rewards == [0.0, 0.125, None, 1.0]
    assert group.rollouts[2].failure == lost
    assert [len(request.conversations) for request in judge.asked] == [2]
    assert (group.min_valid(0.75), group.min_valid(0.76)) == (3, 4)


@cases(
    ("size", "share", "needed"), [(4, 0.75, 3), (5, 0.75, 4), (1, 0.75, 1), (8, 0.0, 0), (3, 1, 3)]
)
def test_a_group_states_how_many_rollouts_it_needs(size: int, share: float, needed: int) -> None:
    group = scored_group([scored(("train", 1, 0, n), 1.0) for n in range(size)])
    assert group.min_valid(share) == needed


def test_a_group_holds_one_rollout_for_each_key_in_order() -> None:
    first, second = (scored(("train", 1, 0, n), 1.0) for n in range(2))
    with pytest.raises(ValueError, match="one rollout for each of its keys"):
        ScoredGroup(row(), (first.key, second.key), (second, first))
    with pytest.raises(ValueError, match="one rollout for each of its keys"):
        ScoredGroup(row(), (first.key, second.key), (first,))
    other = scored(("train", 1, 7, 1), 1.0)
    with pytest.raises(ValueError, match="one row, step and attempt"):
        ScoredGroup(row(), (first.key, other.key), (first, other))


@dataclass
class ScriptedGroup:
    """A policy with one script of turns for each rollout of a group, found by its first seed."""

    writer: Writer
    scripts: dict[int, list[str]]
    gates: dict[int, asyncio.Event] = field(default_factory=dict)

    async def sample(
        self,
        prompt_token_ids: list[int],  # noqa: ARG002 - the seed identifies rollout and turn
        params: SamplingParams,
    ) -> SampledTurn:
        for number, key in enumerate(GROUP.samples(len(self.scripts))):
            for turn, text in enumerate(self.scripts[number]):
                if params.seed == key.seed(7, turn):
                    if number in self.gates:
                        await self.gates[number].wait()
                    ids = (*self.writer.ids(text), self.writer.end)
                    return SampledTurn(ids, (-0.5,) * len(ids), "stop", 1)
        raise AssertionError(f"no turn of the group has the seed {params.seed}")


def setup_of(
    writer: Writer, scorer: GroupScorer, tools: RolloutTools | None = None
) -> RolloutSetup:
    return RolloutSetup(
        renderer=writer.renderer,
        new_environment=partial(ToolEnvironment, tools or caller(pool(None), {})),
        scorer=scorer,
        limits=EpisodeLimits(max_episode_steps=8, context_length=1024, max_turn_tokens=200),
        job_seed=7,
        temperature=1.0,
        slots=RolloutSlots(8),
    )


async def test_a_rollout_is_graded_while_its_sibling_is_still_sampled(writer: Writer) -> None:
    gate = asyncio.Event()
    grader = LengthGrader()
    policy = ScriptedGroup(writer, {0: ["slow"], 1: ["quick one"]}, {0: gate})
    keys = GROUP.samples(2)
    finished = 0

    def count() -> None:
        nonlocal finished
        finished += 1
        gate.set()  # the first rollout continues only once the second one is graded

    group = await asyncio.wait_for(
        run_group(
            setup_of(writer, PerSampleScorer(grader)),
            row(),
            keys,
            policy=policy,
            journal=InMemoryJournal(),
            on_finished=count,
        ),
        PATIENCE_S,
    )
    assert grader.graded == [keys[1], keys[0]]
    assert group.rewards == [4.0, 9.0], "in the order of the keys, not of arrival"
    assert finished == 2


async def test_a_judge_waits_for_the_siblings_without_occupying_slots(writer: Writer) -> None:
    judge = RankingJudge()
    policy = ScriptedGroup(writer, {0: ["abc"], 1: ["a"], 2: ["ab"]})
    group = await asyncio.wait_for(
        run_group(
            replace(setup_of(writer, GroupGrader("ranks", judge)), slots=RolloutSlots(1)),
            row(),
            GROUP.samples(3),
            policy=policy,
            journal=InMemoryJournal(),
        ),
        PATIENCE_S,
    )
    assert group.rewards == [1.0, 0.0, 0.5]
    assert len(judge.asked) == 1


async def test_a_lost_rollout_leaves_the_group_and_its_siblings_are_ranked(writer: Writer) -> None:
    def script(request: ReceivedRequest) -> Reply:
        return Reply(500) if "b" in request.json["arguments"] else Reply(json={"output": "found"})

    judge, journal = RankingJudge(), InMemoryJournal()
    policy = ScriptedGroup(
        writer,
        {
            0: [call_text("search", '{"q": "a"}'), "the answer"],
            1: [call_text("search", '{"q": "b"}'), "never sampled"],
            2: ["none"],
        },
    )
    async with endpoint(script) as server:
        egress = egress_to(server)
        tools = caller(pool(egress), {"search": server.url()})
        for _ in range(2):  # the second time the journal answers for tools, engine and judge
            group = await run_group(
                setup_of(writer, GroupGrader("ranks", judge), tools),
                row("search"),
                GROUP.samples(3),
                policy=policy,
                journal=journal,
            )
            assert group.rewards == [1.0, None, 0.0]
            failure = group.rollouts[1].failure
            assert failure is not None
            assert failure.failure_class is FailureClass.TOOL_ERROR
        await egress.aclose()
    assert len(judge.asked) == 1
    assert [len(conversation) for conversation in judge.asked[0].conversations] == [4, 2]


async def test_a_fault_of_the_service_ends_the_group(writer: Writer) -> None:
    class Gone:
        async def sample(self, _ids: list[int], _params: SamplingParams) -> SampledTurn:
            raise ConnectionAbortedError

    with pytest.raises(ConnectionAbortedError):
        await run_group(
            setup_of(writer, PerSampleScorer(LengthGrader())),
            row(),
            GROUP.samples(2),
            policy=Gone(),
            journal=InMemoryJournal(),
        )
