"""Episodes in a customer's environment over real sockets: played, replayed, begun anew, closed."""

import asyncio
import json
from dataclasses import replace

import pytest
from standardwebhooks import Webhook

from app.graders.samples import sample_object
from app.kit.egress import EgressReply
from app.kit.endpoints import signing_secret
from app.kit.fields import Json
from app.pages.transcripts import transcript
from app.rollouts.rollouts import trajectory_of
from app.rollouts.trajectory import FailureClass, Grade, ScoredRollout, StopReason
from app.tools.environment_calls import read_step
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.environments.http_environments import GUESS, RULES, GuessingWorld
from tests.support.environments.http_tables import HEADERS, LIMITS, SEED, guess, table
from tests.support.environments.number_game import game_row
from tests.support.rollout.plays import check_rows
from tests.support.rollout.policies import Writer, call_text
from tests.support.rollout.rollouts import KEY, SECRET_KEY
from tests.support.runs import world as claims
from tests.support.runs.journals import as_stored, journal_of
from workers.runs.reporter import rollout_row


async def test_an_episode_is_reset_stepped_and_closed(writer: Writer) -> None:
    world = GuessingWorld()
    async with table(writer, world) as at:
        trajectory = await at.play("I try 50.", f"{guess(20)}\n{guess(30)}", guess(42))
        received = at.server.received
    check_rows(trajectory)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [(m["role"], m["content"]) for m in trajectory.messages] == [
        ("user", "Begin."),
        ("user", RULES[0]["content"]),
        ("assistant", "I try 50."),
        ("user", "lower"),
        ("assistant", ""),
        ("tool", "higher"),
        ("tool", "higher"),
        ("assistant", ""),
        ("tool", "Right."),
    ]
    first, *steps, last = world.calls
    rollout = {"rollout_id": KEY.trace_id}
    task = game_row(42).item
    seed = KEY.group.environment_seed(SEED)
    assert first == {"type": "reset", **rollout, "task": task, "seed": seed}
    assert steps[0] == {
        "type": "step", **rollout, "episode_id": "e1", "turn": 0,
        "message": {"role": "assistant", "content": "I try 50."},
    }  # fmt: skip
    assert steps[1]["message"]["tool_calls"][1] == {
        "id": KEY.call_id(1, 1),
        "type": "function",
        "function": {"name": "guess", "arguments": '{"n": 30}'},
    }
    assert last == {"type": "close", **rollout, "episode_id": "e1", "done": True}
    reward = trajectory.environment_reward
    assert reward is not None
    assert reward.reward == pytest.approx(sum(world.earned[KEY.trace_id])) == pytest.approx(0.7)
    assert (reward.components, reward.steps, reward.done) == ({"guesses": 4.0}, 3, True)
    assert len(set(world.keys)) == len(world.keys) == 5
    for request in received:
        Webhook(signing_secret(SECRET_KEY, "proj_a")).verify(request.body, request.headers)
        assert request.headers["x-key"] == HEADERS["X-Key"]
        assert request.headers["x-rollout-id"] == KEY.trace_id
        assert request.headers["x-attempt"] == "1"
    # Calls of one turn and of the trace are those of tools.
    assert [call.call_id for call in trajectory.tool_calls] == [
        KEY.call_id(1, 0), KEY.call_id(1, 1), KEY.call_id(2, 0),
    ]  # fmt: skip


async def test_a_mistake_of_the_model_is_answered_without_a_step(writer: Writer) -> None:
    world = GuessingWorld()
    wrong = call_text("guess", '{"n": "many"}')
    async with table(writer, world) as at:
        trajectory = await at.play(wrong, f"{call_text('leave', '{}')}\n{guess(5)}", "42")
    assert [call.error for call in trajectory.tool_calls] == ["bad_arguments", "unknown_tool", None]
    sent = [step["message"].get("tool_calls", []) for step in world.of("step")]
    assert [[call["id"] for call in calls] for calls in sent] == [[KEY.call_id(1, 1)], []]
    assert trajectory.turns[0].environment is None
    assert [m["content"] for m in trajectory.messages if m["role"] == "tool"][2] == "higher"


async def test_a_replay_calls_nothing_twice_and_continues(
    writer: Writer, world: claims.World
) -> None:
    """A kill after the second step: the next claim has the journal in Postgres and nothing else."""
    turns = ("10", guess(20), "no idea", "42")
    quiet, killed = GuessingWorld(), GuessingWorld()
    async with table(writer, quiet) as at:
        expected = await at.play(*turns)
    job = await world.job()
    async with table(writer, killed) as at:
        at.journal = journal_of(await world.context(job), KEY.step)
        with pytest.raises(IndexError):  # the script ends in mid-rollout
            await at.play(*turns[:2])
        asked = len(killed.calls)
        killed.episodes["e1"] = 42  # a killed process sends no close
        at.journal = journal_of(await world.context(job), KEY.step)
        await at.journal.load()
        found = await at.play(*turns[2:])  # the first two are journalled
        assert at.journal.replayed == 5, "the reset, two turns and two steps"
    assert (len(killed.of("reset")), len(killed.of("step"))) == (1, 4)
    assert [call["type"] for call in killed.calls[asked:]] == ["step", "step", "close"]
    assert killed.earned == quiet.earned
    assert found.messages == expected.messages
    assert [one.tokens for one in found.rows] == [one.tokens for one in expected.rows]
    assert found.environment_reward == expected.environment_reward


async def test_an_environment_that_lost_the_episode_is_begun_anew(writer: Writer) -> None:
    world = GuessingWorld()

    def restart(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] == "step" and call["turn"] == 2 and call["episode_id"] == "e1":
            world.forget()
        return None

    world.instead = restart
    async with table(writer, world) as at:
        trajectory = await at.play("10", guess(20), "42")
        replayed = replace(at, journal=as_stored(at.journal))
        asked = len(world.calls)
        again = await replayed.play("10", guess(20), "42")
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [(call["episode_id"], call["turn"]) for call in world.of("step")] == [
        ("e1", 0), ("e1", 1), ("e1", 2), ("e2", 0), ("e2", 1), ("e2", 2),
    ]  # fmt: skip
    assert len({call["seed"] for call in world.of("reset")}) == 1
    assert len(set(world.keys[:asked])) == asked
    reward = trajectory.environment_reward
    assert reward is not None
    assert reward.reward == pytest.approx(0.8)
    assert [call["type"] for call in world.calls[asked:]] == ["close"]
    assert again.messages == trajectory.messages


async def test_an_episode_that_returns_different_is_lost(writer: Writer) -> None:
    world = GuessingWorld()

    def restart(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] == "step" and call["turn"] == 1:
            world.forget()
            world.wrong = -0.5
        return None

    world.instead = restart
    async with table(writer, world) as at:
        failure = await at.lost("10", "20")
    assert failure.failure_class is FailureClass.ENVIRONMENT_BAD_REPLY
    assert "answered differently" in failure.message


async def test_an_environment_that_always_forgets_is_abandoned(writer: Writer) -> None:
    world = GuessingWorld(instead=lambda call, _: Reply(410) if call["type"] == "step" else None)
    async with table(writer, world) as at:
        failure = await at.lost("10")
    assert (failure.failure_class, failure.message) == (
        FailureClass.ENVIRONMENT_ERROR,
        "answered 410",
    )
    assert (len(world.of("reset")), len(world.of("step"))) == (4, 4)
    assert [call["episode_id"] for call in world.closed] == ["e4"]


async def test_a_limit_ends_an_episode_that_is_never_done(writer: Writer) -> None:
    world = GuessingWorld()
    limits = replace(LIMITS, max_episode_steps=3)
    async with table(writer, world) as at:
        trajectory = await at.play("10", "20", "30", "40", limits=limits)
    assert trajectory.stop_reason is StopReason.MAX_STEPS
    assert len(world.of("step")) == 3
    assert world.closed == [
        {"type": "close", "rollout_id": KEY.trace_id, "episode_id": "e1", "done": False}
    ]
    reward = trajectory.environment_reward
    assert reward is not None
    assert reward.reward == pytest.approx(-0.3)
    assert not reward.done


async def test_a_close_that_is_not_answered_changes_nothing(writer: Writer) -> None:
    world = GuessingWorld(instead=lambda call, _: Reply(400) if call["type"] == "close" else None)
    async with table(writer, world) as at:
        trajectory = await at.play("42")
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert len(world.of("close")) == 1


async def test_a_cancelled_rollout_closes_its_episode(writer: Writer) -> None:
    stepping = asyncio.Event()

    def hold(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] != "step":
            return None
        stepping.set()
        return Reply(delay_s=60)

    world = GuessingWorld(instead=hold)
    async with table(writer, world) as at:
        playing = asyncio.create_task(at.play("10"))
        await stepping.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert [call["episode_id"] for call in world.closed] == ["e1"]


@pytest.mark.parametrize(("sent", "offered"), [({}, True), ({"tools": []}, False)])
async def test_the_rows_own_tools_are_offered_where_the_answer_has_none(
    writer: Writer, sent: Json, *, offered: bool
) -> None:
    def bare(call: Json, _: ReceivedRequest) -> Reply | None:
        return Reply(json={"episode_id": "e1", **sent}) if call["type"] == "reset" else None

    world = GuessingWorld(instead=bare, episodes={"e1": 42})
    row = replace(game_row(42), tools=[GUESS])
    async with table(writer, world, row=row) as at:
        trajectory = await at.play("42")
    assert trajectory.messages[:-1] == row.messages
    prompt = writer.renderer.decode(trajectory.rows[0].tokens[: trajectory.prompt_tokens])
    assert (GUESS["function"]["name"] in prompt) is offered


async def test_keys_that_nothing_reads_are_named_with_their_path() -> None:
    result = {"call_id": "call_a", "content": "no such record", "is_error": True}
    body = json.dumps({"done": False, "results": [result], "rewrd": 1.0}).encode()
    answer = read_step(EgressReply(200, {}, body, 0.0), call_ids=["call_a"])
    assert answer.unread == ("results[].is_error", "rewrd")


async def test_a_stored_trace_shows_the_steps_and_is_graded_the_same(writer: Writer) -> None:
    async with table(writer, GuessingWorld()) as at:
        trajectory = await at.play("no idea", guess(20), "42")
    stored = rollout_row(ScoredRollout(trajectory, grade=Grade(0.9)), project_id="proj_a")
    assert [turn["environment"]["reward"] for turn in stored.trace["turns"]] == [0, -0.1, 1.0]
    assert stored.trace["environment"]["done"] is True
    again = sample_object(trajectory_of(stored))["environment"]
    assert again == sample_object(trajectory)["environment"] == stored.trace["environment"]
    parts = transcript(stored).parts
    assert [(part.role, part.text, part.reward, part.done) for part in parts] == [
        ("user", "Begin.", None, False),
        ("user", RULES[0]["content"], None, False),
        ("assistant", "no idea", 0, False),
        ("user", "Write a number.", None, False),
        ("assistant", "", -0.1, False),
        ("assistant", "42", 1.0, True),
    ]
