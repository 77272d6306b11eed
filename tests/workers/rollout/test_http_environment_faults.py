"""Faults of a customer's environment: each loses the rollout, with its class, and is not a
reward.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from app.kit.fields import Json
from app.kit.ids import GroupKey
from app.rollouts.trajectory import Failure, FailureClass, Grade, ScoredRollout, Trajectory
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.environments.http_environments import GuessingWorld
from tests.support.environments.http_tables import LIMITS, SEED, guess, table
from tests.support.patience import PATIENCE_S
from tests.support.rollout.policies import Writer
from tests.support.rollout.rollouts import KEY, egress_to
from workers.journal import InMemoryJournal
from workers.methods.reinforcement.step_summary import summarise


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def results(call: Json, content: str) -> list[Json]:
    return [{"call_id": one["id"], "content": content} for one in call["message"]["tool_calls"]]


def with_parameters(parameters: Json) -> Json:
    return {"type": "function", "function": {"name": "guess", "parameters": parameters}}


Bad = tuple[str, Callable[[Json], Any], str]
BAD: list[Bad] = [
    ("reset", lambda _: Reply(json={"messages": []}), "`episode_id`: Field required"),
    ("reset", lambda _: Reply(json={"episode_id": 5}), "`episode_id`"),
    ("reset", lambda _: Reply(json=[]), "not a JSON object"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "messages": [{"role": "king"}]}),
     "`messages[0]`: it must be one of"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "messages": [
        {"role": "assistant", "content": "?"}]}), "not a user's"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "tools": [{"type": "f"}]}),
     "`tools[0].type`"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "messages": [
        {"role": "user", "content": "long " * 5000}]}), "the context 2048"),
    ("reset", lambda _: Reply(204), "not valid HTTP"),
    ("reset", lambda _: Reply(302, {}, headers={"Location": "http://169.254.169.254/"}),
     "answered 302"),
    ("step", lambda _: Reply(json={}), "`done`: Field required"),
    ("step", lambda _: Reply(json={"done": "yes"}), "`done`"),
    ("step", lambda _: Reply(json={"done": False}), "lacks 1 of the turn's 1 calls"),
    ("step", lambda _: Reply(json={"done": False, "results": []}), "lacks 1"),
    ("step", lambda _: Reply(json={"done": False, "message": "hm"}), "lacks 1"),
    ("step", lambda _: Reply(json={"done": True, "message": "hm"}), "not with a `message`"),
    ("step", lambda _: Reply(json={"done": False, "results": [
        {"call_id": "call_other", "content": "x"}]}), "not a call of the turn"),
    ("step", lambda call: Reply(json={"done": False, "results": [
        {"call_id": call["message"]["tool_calls"][0]["id"], "content": "x"}] * 2}), "two of"),
    ("step", lambda call: Reply(json={"done": False, "results": [
        {"call_id": call["message"]["tool_calls"][0]["id"], "content": None}]}),
     "`results[0].content`"),
    ("step", lambda _: Reply(body=b'{"done": true, "reward": NaN}'), "not JSON"),
    ("step", lambda _: Reply(body=b'{"done": true, "reward": 1e999}'), "not JSON"),
    ("step", lambda _: Reply(json={"done": True, "reward": 2e9}), "`reward`"),
    ("step", lambda _: Reply(json={"done": True, "reward": "1"}), "`reward`"),
    ("step", lambda _: Reply(json={"done": True, "reward": True}), "`reward`"),
    ("step", lambda _: Reply(json={"done": True, "components": {"a": None}}), "`components`: "),
    ("step", lambda _: Reply(json={"done": True, "components": {"a" * 65: 1}}), "does not match"),
    ("step", lambda _: Reply(json={"done": True, "components": {"a b": None}}), "does not match"),
    ("step", lambda _: Reply(json={"done": True, "components": {f"c{n}": 1 for n in range(33)}}),
     "`components`"),
    ("step", lambda call: Reply(json={
        "done": False,
        "components": {f"c{call['turn']}.{n}": 1 for n in range(20)},
        "results": results(call, "x"),
    }), "more than 32 components in one episode"),
    ("step", lambda _: Reply(json={"done": True, "more": nested(100)}), "deeper than 100 levels"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "messages": [
        {"role": "user", "content": "x", "reasoning": nested(600)}]}), "deeper than 100 levels"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "messages": [
        {"role": "user", "content": "a\x00b"}]}), "U+0000"),
    ("reset", lambda _: Reply(json={"episode_id": "e", "tools": [
        with_parameters({"type": "object", "required": [["n"]]})]}),
     "`tools[0].function.parameters.required[0]`: invalid schema of a function"),
    ("step", lambda _: Reply(body=b'{"done": true, "message": "\xff"}'), "not UTF-8"),
    ("step", lambda _: Reply(body=b'{"done": true, "message": "\\ud800"}'), "not JSON"),
    ("step", lambda _: Reply(body=b"[" * 20_000), "not JSON"),
    ("step", lambda _: Reply(body=b'{"done": true, "more": [%s0]}' % (b"0," * 30_000)),
     "more than 25000 values"),
    ("step", lambda _: Reply(body=b"x" * 10_000_000), "larger than 1048576"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "reply", "part"), BAD, ids=[f"{b[0]}-{b[2]}" for b in BAD])
async def test_a_bad_answer_loses_the_rollout(
    writer: Writer, kind: str, reply: Callable[[Json], Reply], part: str
) -> None:
    world = GuessingWorld(instead=lambda call, _: reply(call) if call["type"] == kind else None)
    async with table(writer, world) as at:
        failure = await at.lost(guess(10), guess(11))
    assert failure.failure_class is FailureClass.ENVIRONMENT_BAD_REPLY, failure
    assert part in failure.message
    named = _named(reply({})) if kind == "reset" else "e1"
    assert [call["episode_id"] for call in world.closed] == [named]


def _named(answer: Reply) -> str | None:
    """Returns the id in an answer to `reset` that can be read."""
    sent = answer.json if isinstance(answer.json, dict) else {}
    sent_id = sent.get("episode_id")
    too_deep = "reasoning" in str(sent)[:200]
    return sent_id if isinstance(sent_id, str) and not too_deep else None


async def test_an_episode_is_closed_whose_beginning_was_not_received(writer: Writer) -> None:
    world = GuessingWorld(late="reset")
    async with table(writer, world, timeout_s=0.3) as at:
        failure = await at.lost("10")
        assert not world.episodes
        world.late = ""
        await at.play("42")  # played again, it is told of the first episode, which is gone
    assert failure.failure_class is FailureClass.ENVIRONMENT_TIMEOUT
    rollout = {"type": "close", "rollout_id": KEY.trace_id}
    assert world.closed == [
        {**rollout, "episode_id": None, "done": False},
        {**rollout, "episode_id": "e2", "done": True},
    ]


async def test_an_episode_whose_beginning_is_cancelled_is_closed(writer: Writer) -> None:
    begun = asyncio.Event()

    def seen(*_: object) -> Reply | None:
        begun.set()
        return None

    world = GuessingWorld(instead=seen, late="reset")
    async with table(writer, world) as at:
        playing = asyncio.create_task(at.play("10"))
        await begun.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert [call["episode_id"] for call in world.closed] == [None]
    assert not world.episodes


async def test_a_refused_reset_has_nothing_to_close(writer: Writer) -> None:
    world = GuessingWorld(instead=lambda *_: Reply(422))
    async with table(writer, world) as at:
        await at.lost("10")
    assert [call["type"] for call in world.calls] == ["reset"]


async def test_an_unstorable_character_of_a_step_is_replaced(writer: Writer) -> None:
    """As in a tool's output: the rollout is not lost for what the model asked to see."""

    def binary(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] != "step" or not call["message"].get("tool_calls"):
            return None
        return Reply(json={"done": False, "results": results(call, "a\0b"), "\0": 1})

    async with table(writer, GuessingWorld(instead=binary)) as at:
        trajectory = await at.play(guess(10), "42")
    assert [call.output for call in trajectory.tool_calls] == ["a\ufffdb"]


@pytest.mark.parametrize(
    ("reply", "kind", "tries"),
    [
        (Reply(500), FailureClass.ENVIRONMENT_ERROR, 4),
        (Reply(429), FailureClass.ENVIRONMENT_ERROR, 4),
        (Reply(422, {"detail": "canary"}), FailureClass.ENVIRONMENT_ERROR, 1),
        (Reply(delay_s=60), FailureClass.ENVIRONMENT_TIMEOUT, 1),
    ],
)
async def test_an_outage_loses_the_rollout_and_closes_the_episode(
    writer: Writer, reply: Reply, kind: FailureClass, tries: int
) -> None:
    world = GuessingWorld(instead=lambda call, _: reply if call["type"] == "step" else None)
    timeout_s = 0.3 if reply.delay_s else 5.0
    async with table(writer, world, timeout_s=timeout_s) as at:
        failure = await at.lost("10")
    assert failure.failure_class is kind
    assert "canary" not in failure.message
    assert len(world.of("step")) == tries
    assert len(set(world.keys)) == 3, "the attempts of a step share their key"
    assert world.closed[0]["done"] is False


async def test_the_guard_refuses_a_private_address(writer: Writer) -> None:
    world = GuessingWorld()
    async with table(writer, world) as at:
        at.egress = egress_to()
        failure = await at.lost("10")
        await at.egress.aclose()
    assert failure.failure_class is FailureClass.ENDPOINT_REFUSED
    assert world.calls == []


async def test_the_curves_of_a_step_are_those_of_the_environment(writer: Writer) -> None:
    world = GuessingWorld()
    attempts: list[int] = []

    def once_down(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] != "step" or attempts:
            return None
        attempts.append(1)
        return Reply(503)

    world.instead = once_down
    async with table(writer, world) as at:
        won = await at.play("10", "42")
        at.journal, world.instead = InMemoryJournal(), lambda *_: None
        world.forget()
        ended = await at.play("10", "20", limits=replace(LIMITS, max_episode_steps=2))
    lost = Failure(FailureClass.ENVIRONMENT_TIMEOUT, "no answer", "world")
    values = summarise(
        [
            ScoredRollout(won, grade=Grade(0.9)),
            ScoredRollout(ended, grade=Grade(-0.2)),
            ScoredRollout(Trajectory(KEY), failure=lost),
        ]
    )
    assert values["environment/steps_mean"] == 2.0
    assert values["environment/retries_mean"] == 0.5
    assert values["environment/done_share"] == 0.5
    assert values["environment/errors"] == 1.0
    assert values["environment/reward_mean"] == pytest.approx((0.9 - 0.2) / 2)
    assert values["environment/latency_s_mean"] > 0
    assert values["discarded/environment_timeout"] == 1.0


def test_the_seed_is_one_for_a_group_and_for_all_validations_of_a_row() -> None:
    def seed(split: Any, step: int, row: int = 3, job_seed: int = SEED) -> int:
        (key,) = {k.group for k in GroupKey("ftjob-1", split, step, row).samples(4)}
        return key.environment_seed(job_seed)

    assert seed("valid", 0) == seed("valid", 8) == seed("report", 8) == seed("valid_greedy", 4)
    assert len({seed("train", 1), seed("train", 2), seed("valid", 1), seed("train", 1, 4)}) == 4
    assert seed("train", 1) != seed("train", 1, job_seed=8)


async def test_an_environment_whose_answers_are_each_in_time_holds_no_rollout_without_end(
    writer: Writer,
) -> None:
    """Each reading of the clock is 20 seconds later, so each call takes 20 of them."""
    world = GuessingWorld()
    clock = map(float, count(0, 20)).__next__
    async with table(writer, world, episode_waiting_limit_s=70.0, clock=clock) as at:
        failure = await at.lost(*(guess(n) for n in range(10, 16)))
    assert failure.failure_class is FailureClass.ENVIRONMENT_TIMEOUT
    assert failure.message == "one episode waited for answers for 70 seconds together"
    assert (len(world.of("reset")), len(world.of("step"))) == (1, 3)
    assert [call["episode_id"] for call in world.closed] == ["e1"]


async def test_an_answer_that_comes_after_the_time_of_the_episode_is_not_awaited(
    writer: Writer,
) -> None:
    async with table(
        writer, GuessingWorld(late="step"), timeout_s=PATIENCE_S, episode_waiting_limit_s=2.0
    ) as at:
        failure = await at.lost(guess(10))
    assert failure.failure_class is FailureClass.ENVIRONMENT_TIMEOUT
    assert "for 2 seconds together" in failure.message


async def test_the_repeats_of_an_episode_that_was_lost_count_as_waiting(writer: Writer) -> None:
    world = GuessingWorld()

    def forgetful(call: Json, _: ReceivedRequest) -> Reply | None:
        if call["type"] == "step" and call["turn"] == 2:
            world.forget()
        return None

    world.instead = forgetful
    clock = map(float, count(0, 20)).__next__
    async with table(writer, world, episode_waiting_limit_s=100.0, clock=clock) as at:
        failure = await at.lost(*(guess(n) for n in range(10, 16)))
    assert failure.failure_class is FailureClass.ENVIRONMENT_TIMEOUT
    assert (len(world.of("reset")), len(world.of("step"))) == (2, 3)
