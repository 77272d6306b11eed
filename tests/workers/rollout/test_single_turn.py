"""Episodes of one turn: rows without tools, and calls that are graded and not run."""

from dataclasses import replace

import pytest

from app.graders.samples import sample_object
from app.rollouts.trajectory import StopReason
from tests.support.endpoints import endpoint
from tests.support.rollout.plays import LIMITS, Play, check_tokens, echo, search
from tests.support.rollout.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollout.rollouts import KEY, egress_to, row
from workers.environments.tool_environment import SingleTurn
from workers.journal import InMemoryJournal
from workers.rollout.episode import run_episode


@pytest.mark.parametrize(
    "text",
    [search("a"), '<tool_call>\n{"name"\n</tool_call>', "It is <tool_call> 42.", "</tool_call>"],
)
async def test_a_row_without_tools_ends_with_its_first_turn(writer: Writer, text: str) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        trajectory = await play.run([play.turn(text), play.turn("more")], row())
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [(turn.content, turn.parse_error) for turn in trajectory.turns] == [(text, None)]
    assert trajectory.messages[1:] == [{"role": "assistant", "content": text}]
    assert (trajectory.tool_calls, server.received) == ([], [])


CALL_AND_WORDS = "I look it up.\n" + search("a")


@pytest.mark.parametrize(
    ("text", "content", "names", "fault"),
    [
        (CALL_AND_WORDS, "I look it up.", ["search"], False),
        (search("a") + "\n" + call_text("nobody", "{}"), "", ["search", "nobody"], False),
        ('<tool_call>\n{"name"\n</tool_call>', '<tool_call>\n{"name"\n</tool_call>', [], True),
        ("It is 42.", "It is 42.", [], False),
    ],
)
async def test_calls_of_a_single_turn_are_graded(
    writer: Writer, text: str, content: str, names: list[str], *, fault: bool
) -> None:
    """In a job without tools a row's own tools are offered, and its one turn is the answer."""
    policy = ScriptedPolicy(
        [[*writer.ids(text), writer.end], [*writer.ids("more"), writer.end]],
        writer.renderer.stop_token_ids,
    )
    example = row("search")
    trajectory = await run_episode(
        example,
        KEY,
        policy=policy,
        renderer=writer.renderer,
        environment=SingleTurn(),
        journal=InMemoryJournal(),
        limits=replace(LIMITS, max_episode_steps=1),
        job_seed=7,
        temperature=0.8,
    )
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    [turn] = trajectory.turns
    assert (turn.content, turn.parse_error is not None) == (content, fault)
    assert trajectory.tool_calls == [], "no call was run"
    assert policy.calls[0][0] == writer.renderer.prompt_ids(example.messages, example.tools)
    sample = sample_object(trajectory)
    assert (sample["output_text"], [c["function"]["name"] for c in sample["output_tools"]]) == (
        content,
        names,
    )
    assert sample["output_tools"] == sample["choices"][0]["message"]["tool_calls"]
    if names:
        assert sample["output_tools"][0]["function"]["arguments"] == '{"q": "a"}'
