"""Episodes in a stateful environment that is not a set of tools."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from app.kit.ids import GroupKey
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.rollouts.trajectory import UNPARSABLE_CALL, Failure, FailureClass, StopReason, Trajectory
from app.settings import shipped_model_dir
from tests.support.engines.engine_server import running_engine
from tests.support.environments.number_game import GUESS, RULES, GuessingGame, game_row
from tests.support.grading.group_judges import RankingJudge
from tests.support.patience import PATIENCE_S
from tests.support.rollout.plays import check_rows, sampled_only
from tests.support.rollout.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollout.rollouts import KEY
from tests.support.runs.journals import as_stored
from workers.engines.policy import EnginePolicy
from workers.grading.job_grader import GroupGrader
from workers.journal import InMemoryJournal
from workers.rollout.environment import (
    AssistantTurn,
    EpisodeLimits,
    InfrastructureFailure,
    Policy,
    SampledTurn,
    SamplingParams,
    StepResult,
)
from workers.rollout.episode import (
    RolloutFailure,
    RolloutSetup,
    RolloutSlots,
    run_episode,
    run_group,
)

LIMITS = EpisodeLimits(max_episode_steps=20, context_length=2048, max_turn_tokens=200)
UNREACHABLE = Failure(FailureClass.TOOL_UNREACHABLE, "connection refused", "game")


def guess(n: int) -> str:
    return call_text("guess", json.dumps({"n": n}))


@dataclass
class Play:
    """One rollout of the guessing game."""

    writer: Writer
    game: GuessingGame = field(default_factory=GuessingGame)
    limits: EpisodeLimits = LIMITS
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    policy: ScriptedPolicy = field(default_factory=lambda: ScriptedPolicy([], ()))

    async def run(self, *turns: str, secret: int = 42, policy: Policy | None = None) -> Trajectory:
        scripted = [[*self.writer.ids(turn), self.writer.end] for turn in turns]
        self.policy = ScriptedPolicy(scripted, self.writer.renderer.stop_token_ids)
        return await run_episode(
            game_row(secret),
            KEY,
            policy=policy or self.policy,
            renderer=self.writer.renderer,
            environment=self.game,
            journal=self.journal,
            limits=self.limits,
            job_seed=7,
            temperature=1.0,
        )


def check_tokens(trajectory: Trajectory, writer: Writer) -> None:
    """Sampled ids are unchanged at mask 1; the context around them is the rendered one."""
    check_rows(trajectory)
    for row in trajectory.rows:
        assert RULES["content"] in writer.renderer.decode(row.tokens)


async def test_a_game_in_plain_text_is_played_to_its_end(writer: Writer) -> None:
    play = Play(writer)
    trajectory = await play.run("I try 50.", "no idea", "then 20", "42")
    check_tokens(trajectory, writer)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [(m["role"], m["content"]) for m in trajectory.messages] == [
        ("system", RULES["content"]),
        ("user", "Begin."),
        ("assistant", "I try 50."),
        ("user", "1: lower"),
        ("assistant", "no idea"),
        ("user", "Write a number."),
        ("assistant", "then 20"),
        ("user", "2: higher"),
        ("assistant", "42"),
        ("user", "Right, after 3 guesses."),
    ]
    # The policy samples each turn from the exact conversation that the template would render.
    for number, (prompt, _) in enumerate(play.policy.calls):
        history = trajectory.messages[: 2 + 2 * number]
        assert prompt == writer.renderer.prompt_ids(history, [GUESS])
    assert trajectory.tool_calls == []
    assert (play.game.resets, play.game.closed) == ([KEY], 1)


async def test_a_game_by_tool_calls_records_each_call(writer: Writer) -> None:
    play = Play(writer)
    trajectory = await play.run(f"{guess(50)}\n{guess(20)}", guess(50), guess(42))
    check_tokens(trajectory, writer)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [(c.arguments, c.output, c.repeated) for c in trajectory.tool_calls] == [
        ('{"n": 50}', "1: lower", False),
        ('{"n": 20}', "2: higher", False),
        ('{"n": 50}', "3: lower", True),
        ('{"n": 42}', "Right, after 4 guesses.", False),
    ]
    assert [call.call_id for call in trajectory.tool_calls] == [
        KEY.call_id(0, 0), KEY.call_id(0, 1), KEY.call_id(1, 0), KEY.call_id(2, 0),
    ]  # fmt: skip
    assert [m["role"] for m in trajectory.messages][2:5] == ["assistant", "tool", "tool"]
    assert play.game.closed == 1


async def test_a_replay_steps_a_new_game_and_samples_nothing(writer: Writer) -> None:
    turns = ("50", guess(20), "42")
    first = Play(writer)
    expected = await first.run(*turns)
    again = Play(writer, journal=as_stored(first.journal))
    found = await again.run(*turns)
    assert replace(found, started_at=0.0, finished_at=0.0) == replace(
        expected, started_at=0.0, finished_at=0.0
    )
    assert again.policy.calls == []
    assert again.game.turns == first.game.turns
    assert (len(again.game.turns), again.game.closed) == (3, 1)


@pytest.mark.parametrize(
    ("limits", "stepped", "reason"),
    [
        (replace(LIMITS, max_episode_steps=1), 0, StopReason.MAX_STEPS),
        (replace(LIMITS, max_episode_steps=2), 1, StopReason.MAX_STEPS),
        (replace(LIMITS, max_episode_steps=3), 2, StopReason.MAX_STEPS),
        (replace(LIMITS, wall_time_s=10.0), 2, StopReason.WALL_TIME),
    ],
)
async def test_limits_end_a_game(
    writer: Writer, limits: EpisodeLimits, stepped: int, reason: StopReason
) -> None:
    """Each turn and each call is a step; seconds count as the environment reports them."""
    play = Play(writer, GuessingGame(step_s=60.0), limits)
    trajectory = await play.run(f"{guess(1)}\n{guess(2)}", "3")
    assert trajectory.stop_reason is reason
    assert sum(len(turn.tool_calls) for turn in play.game.turns) == stepped
    assert play.game.closed == 1


async def test_a_call_that_cannot_be_parsed_never_reaches_the_game(writer: Writer) -> None:
    play = Play(writer)
    broken = '<tool_call>\n{"name"\n</tool_call>'
    trajectory = await play.run(f"{guess(50)}\n{broken}", broken, "42")
    assert [(c.name, c.error) for c in trajectory.tool_calls] == [
        (UNPARSABLE_CALL, "parse_error"), (UNPARSABLE_CALL, "parse_error"),
    ]  # fmt: skip
    assert [(turn.index, len(turn.tool_calls)) for turn in play.game.turns] == [(2, 0)]


@pytest.mark.parametrize("where", ["on_reset", "on_step"])
async def test_a_failure_of_the_game_costs_the_rollout_and_closes_it(
    writer: Writer, where: str
) -> None:
    async def fail() -> None:
        raise InfrastructureFailure(UNREACHABLE)

    game = GuessingGame()
    setattr(game, where, fail)
    play = Play(writer, game)
    with pytest.raises(RolloutFailure) as caught:
        await play.run("50")
    assert caught.value.failure == UNREACHABLE
    trajectory = caught.value.trajectory
    assert (trajectory.stop_reason, len(trajectory.turns)) == (None, int(where == "on_step"))
    assert trajectory.finished_at >= trajectory.started_at > 1e9
    assert game.closed == 1


async def test_a_fault_of_the_service_closes_the_game(writer: Writer) -> None:
    async def fail() -> None:
        raise ConnectionAbortedError

    play = Play(writer, GuessingGame(on_step=fail))
    with pytest.raises(ConnectionAbortedError):
        await play.run("50")
    assert play.game.closed == 1


@pytest.mark.parametrize("where", ["on_reset", "on_step"])
async def test_a_cancelled_rollout_closes_the_game(writer: Writer, where: str) -> None:
    waiting = asyncio.Event()

    async def hang() -> None:
        waiting.set()
        await asyncio.Event().wait()

    game = GuessingGame()
    setattr(game, where, hang)
    rollout = asyncio.create_task(Play(writer, game).run("50"))
    await asyncio.wait_for(waiting.wait(), PATIENCE_S)
    rollout.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rollout
    assert game.closed == 1


async def test_an_environment_that_neither_replies_nor_ends_is_refused(writer: Writer) -> None:
    class Silent(GuessingGame):
        @override
        async def step(self, turn: AssistantTurn) -> StepResult:
            return StepResult()

    play = Play(writer, Silent())
    with pytest.raises(ValueError, match="must reply"):
        await play.run("50")
    assert play.game.closed == 1


async def test_each_rollout_of_a_group_has_a_game_of_its_own(writer: Writer) -> None:
    """One game is unavailable: its rollout leaves the group, the siblings are ranked, all are
    closed.
    """
    games: list[GuessingGame] = []

    async def fail() -> None:
        raise InfrastructureFailure(UNREACHABLE)

    def new_game() -> GuessingGame:
        games.append(GuessingGame(on_step=fail) if len(games) == 1 else GuessingGame())
        return games[-1]

    turn = [*writer.ids("42"), writer.end]
    judge = RankingJudge()
    group = await run_group(
        _setup(writer, new_game, judge),
        game_row(42),
        GroupKey("ftjob-1", "train", 2, 5).samples(3),
        policy=ScriptedPolicy([turn] * 3, writer.renderer.stop_token_ids),
        journal=InMemoryJournal(),
    )
    assert [rollout.failure for rollout in group.rollouts] == [None, UNREACHABLE, None]
    assert group.rewards == [0.0, None, 0.0], "equal answers have equal ranks"
    assert [game.closed for game in games] == [1, 1, 1]
    assert [[key.sample_index for key in game.resets] for game in games] == [[0], [1], [2]]


@dataclass
class CutTurns:
    """A real policy whose turns count as ended where their token limit cut them."""

    policy: Policy

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        turn = await self.policy.sample(prompt_token_ids, replace(params, max_tokens=6))
        return replace(turn, finish_reason="stop")


async def test_a_real_model_plays_and_its_engine_confirms_every_log_prob(writer: Writer) -> None:
    spec = BaseModelSpec(
        name="tiny", path=str(shipped_model_dir()), context_length=512, max_turn_tokens=24
    )
    play = Play(writer, GuessingGame(), EpisodeLimits(4, context_length=512, max_turn_tokens=24))
    with running_engine([spec]) as url:
        inference = HttpInference(url)
        policy = EnginePolicy(inference, base_model="tiny")
        trajectory = await play.run(secret=1000, policy=CutTurns(policy))
        scored = [await policy.probe(row.tokens) for row in trajectory.rows]
        await inference.aclose()
    check_tokens(trajectory, writer)
    assert trajectory.stop_reason is StopReason.MAX_STEPS
    roles = [message["role"] for message in trajectory.messages]
    assert (roles[:2], roles[2::2]) == (["system", "user"], ["assistant"] * 4)
    # A turn that the model left inside a tool call is answered with a parse error instead.
    broken = sum(turn.parse_error is not None for turn in trajectory.turns)
    assert sorted(roles[3::2]) == ["tool"] * broken + ["user"] * (4 - broken)
    assert (len(play.game.turns), play.game.closed) == (4 - broken, 1)
    assert trajectory.completion_tokens > 4
    for row, expected in zip(trajectory.rows, scored, strict=True):
        own = [v for v, is_sampled in zip([0.0, *expected], row.mask, strict=True) if is_sampled]
        assert sampled_only(row.logprobs, row.mask) == pytest.approx(own, abs=1e-3)


def _setup(
    writer: Writer, new_environment: Callable[[], GuessingGame], judge: RankingJudge
) -> RolloutSetup:
    return RolloutSetup(
        renderer=writer.renderer,
        new_environment=new_environment,
        scorer=GroupGrader("ranks", judge),
        limits=LIMITS,
        job_seed=7,
        temperature=1.0,
        slots=RolloutSlots(8),
    )
