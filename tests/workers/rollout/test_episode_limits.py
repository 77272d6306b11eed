"""Limits of an episode: tokens, time and room in the context; and the tools that it offers."""

from dataclasses import replace

import pytest

from app.kit.errors import RunFailed
from app.rollouts.trajectory import StopReason
from tests.support.endpoints import Reply, endpoint
from tests.support.rollout.plays import LIMITS, NAMES, Play, check_tokens, echo, facts, search
from tests.support.rollout.policies import Writer, call_text
from tests.support.rollout.rollouts import egress_to, row
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import NOTICE


async def test_a_long_reply_is_cut_to_fit_and_reports_it(writer: Writer) -> None:
    async with endpoint(lambda _: Reply(json={"output": "word " * 5000})) as server:
        limits = EpisodeLimits(20, context_length=500, max_turn_tokens=60)
        play = Play(writer, server, egress_to(server), limits)
        trajectory = await play.run([play.turn(search("a"), search("b")), play.turn("done")])
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    outputs = [call.output for call in trajectory.tool_calls]
    assert all(output.startswith("word word ") and output.endswith(NOTICE) for output in outputs)
    assert outputs[0] == outputs[1] == trajectory.messages[2]["content"]
    prompt = play.policy.calls[1][0]
    assert 440 < len(prompt) <= 500 - 16
    assert writer.renderer.decode(prompt).count(NOTICE.strip()) == 2


async def test_a_reply_that_cannot_even_be_cut_stops_the_rollout(writer: Writer) -> None:
    async with endpoint(lambda _: Reply(json={"output": "word " * 5000})) as server:
        play = Play(writer, server, egress_to(server))
        turn = play.turn(search("a"))
        prompt = len(writer.renderer.prompt_ids(row(*NAMES).messages, row(*NAMES).tools))
        play.limits = EpisodeLimits(20, context_length=prompt + len(turn) + 20, max_turn_tokens=60)
        trajectory = await play.run([turn])
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is StopReason.TOKEN_LIMIT
    assert trajectory.row.mask[-1] == 1


async def test_a_turn_that_is_cut_ends_by_the_token_limit(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server), replace(LIMITS, max_turn_tokens=3))
        trajectory = await play.run([play.turn("many words that do not fit")])
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert (trajectory.stop_reason, trajectory.completion_tokens) == (StopReason.TOKEN_LIMIT, 3)


async def test_a_cut_turn_with_a_whole_call_continues_with_its_end_of_turn_added(
    writer: Writer,
) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        first = writer.ids(search("a"))
        play.limits = replace(LIMITS, max_turn_tokens=len(first))
        trajectory = await play.run([first, play.turn("done")])
        await play.egress.aclose()
    check_tokens(play, trajectory)
    added = trajectory.prompt_tokens + len(first)
    assert (trajectory.row.tokens[added], trajectory.row.mask[added]) == (writer.end, 0)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER


async def test_a_prompt_without_room_is_a_stop_not_an_error(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server), EpisodeLimits(5, 64, 32))
        trajectory = await play.run([], row(question="long " * 200))
        await play.egress.aclose()
    assert (trajectory.stop_reason, trajectory.turns) == (StopReason.TOKEN_LIMIT, [])
    assert (play.policy.calls, trajectory.completion_tokens) == ([], 0)


async def test_wall_time_counts_work_and_stops_between_turns(writer: Writer) -> None:
    async with endpoint(lambda _: Reply(json={"output": "x"}, delay_s=0.15)) as server:
        play = Play(writer, server, egress_to(server), replace(LIMITS, wall_time_s=0.1))
        turns = [play.turn(search("a")), play.turn("done")]
        first = await play.run(turns)
        again = await play.run(turns)
        await play.egress.aclose()
    assert first.stop_reason is StopReason.WALL_TIME
    assert facts(again) == facts(first)  # remembered durations, not this machine's speed


async def test_only_tools_of_row_and_job_are_offered(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        trajectory = await play.run(
            [play.turn(call_text("lookup", '{"q": "x"}')), play.turn("done")], row("search")
        )
        await play.egress.aclose()
    assert trajectory.tool_calls[0].error == "unknown_tool"
    assert server.received == []
    assert "lookup" not in writer.renderer.decode(trajectory.row.tokens[: trajectory.prompt_tokens])


async def test_a_row_the_template_refuses_names_the_example(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        bad = replace(row(), messages=[{"role": "user", "content": [{"type": "image"}]}])
        with pytest.raises(RunFailed, match="Example 6 of the training file") as caught:
            await play.run([], bad)
        await play.egress.aclose()
    assert (caught.value.code, caught.value.param) == ("invalid_training_file", "training_file")
