import asyncio
import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.rollouts.trajectory import UNPARSABLE_CALL, FailureClass, StopReason
from app.rollouts.turns import call_fault
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.rollout.plays import LIMITS, NAMES, Play, check_tokens, echo, facts, search
from tests.support.rollout.policies import Writer, call_text
from tests.support.rollout.rollouts import KEY, egress_to, row
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import RolloutFailure


async def test_two_tools_then_an_answer(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        trajectory = await play.run(
            [
                play.turn("thinking", search("a")),
                play.turn(call_text("lookup", '{"q": "b"}')),
                play.turn("It is 42."),
            ]
        )
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    assert [turn.content for turn in trajectory.turns] == ["thinking", "", "It is 42."]
    assert [(c.name, c.output, c.error) for c in trajectory.tool_calls] == [
        ("search", 'search says {"q": "a"}', None),
        ("lookup", 'lookup says {"q": "b"}', None),
    ]
    assert trajectory.policy_versions == (3, 5)
    assert [m["role"] for m in trajectory.messages] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    call = trajectory.messages[1]["tool_calls"][0]
    assert call["id"] == trajectory.messages[2]["tool_call_id"] == KEY.call_id(0, 0)
    assert call["function"] == {"name": "search", "arguments": '{"q": "a"}'}
    assert {r.json["trace_id"] for r in server.received} == {KEY.trace_id}
    assert "lookup says" in writer.renderer.decode(trajectory.row.tokens)
    params = [params for _, params in play.policy.calls]
    assert [p.seed for p in params] == [KEY.seed(7, turn) for turn in range(3)]
    assert {(p.temperature, p.max_tokens, p.stop_token_ids) for p in params} == {
        (0.8, 400, writer.renderer.stop_token_ids)
    }
    assert trajectory.finished_at >= trajectory.started_at > 1e9


async def test_parallel_calls_overlap_and_answer_in_the_order_of_the_turn(writer: Writer) -> None:
    together = asyncio.Barrier(3)

    async def script(request: ReceivedRequest) -> Reply:
        question = json.loads(request.json["arguments"])["q"]
        await asyncio.wait_for(together.wait(), PATIENCE_S)  # all three are in flight at once
        await asyncio.sleep({"a": 0.1, "b": 0.05, "c": 0.0}[question])
        return Reply(json={"output": f"<{question}>"})

    async with endpoint(script) as server:
        play = Play(writer, server, egress_to(server))
        trajectory = await play.run(
            [play.turn(search("a"), search("b"), search("c")), play.turn("done")]
        )
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert [call.output for call in trajectory.tool_calls] == ["<a>", "<b>", "<c>"]
    assert [m["content"] for m in trajectory.messages if m["role"] == "tool"] == [
        "<a>", "<b>", "<c>",
    ]  # fmt: skip
    text = writer.renderer.decode(trajectory.row.tokens)
    assert text.index("<a>") < text.index("<b>") < text.index("<c>")
    assert len({request.json["call_id"] for request in server.received}) == 3


async def test_a_row_without_parallel_calls_makes_the_first_of_a_turn(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        turns = [play.turn(search("a"), search("b")), play.turn("done")]
        trajectory = await play.run(turns, row(*NAMES, parallel_tool_calls=False))
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert [json.loads(call.arguments) for call in trajectory.tool_calls] == [{"q": "a"}]
    assert [m["role"] for m in trajectory.messages] == ["user", "assistant", "tool", "assistant"]


CALL = st.tuples(st.just("call"), st.sampled_from([*NAMES, *NAMES, "made_up"]))
TURN = st.lists(
    st.one_of(
        CALL,
        CALL,
        CALL,
        st.tuples(st.just("text"), st.text(max_size=20)),
        st.tuples(st.just("broken"), st.sampled_from(["{", '{"name": 1}', "", "[]"])),
        st.tuples(st.just("noise"), st.lists(st.integers(0, 400), max_size=8)),
    ),
    min_size=1,
    max_size=4,
)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    turns=st.lists(TURN, min_size=2, max_size=5),
    stops=st.lists(st.sampled_from([True] * 7 + [False]), min_size=5, max_size=5),
    steps=st.sampled_from([1, 2, 3, 5, 8, 20, 20, 20]),
    context=st.sampled_from([300, 1000, 2000, 4000]),
    turn_tokens=st.sampled_from([10, 120, 400, 400, 400]),
    seed=st.integers(0, 2**16),
)
async def test_tokens_are_exact_whatever_the_model_writes(
    writer: Writer,
    turns: list[list[tuple[str, Any]]],
    stops: list[bool],
    steps: int,
    context: int,
    turn_tokens: int,
    seed: int,
) -> None:
    random = Random(seed)
    scripted: list[list[int]] = []
    for parts, stop in zip(turns, stops, strict=False):
        ids: list[int] = []
        for kind, value in parts:
            if kind == "text":
                ids += writer.odd_ids(value, random)
            elif kind == "call":
                arguments = json.dumps({"q": str(random.randint(0, 2))})
                ids += writer.odd_ids(call_text(value, arguments), random)
            elif kind == "broken":
                ids += writer.ids(f"<tool_call>\n{value}\n</tool_call>")
            else:
                ids += [i for i in value if i < writer.vocab_size and i != writer.end]
        scripted.append([*ids, writer.end] if stop else ids)
    scripted += [[*writer.ids("enough"), writer.end]] * 20
    limits = EpisodeLimits(steps, context_length=context, max_turn_tokens=turn_tokens)

    def script(request: ReceivedRequest) -> Reply:
        length = int(request.json["call_id"][-2:], 16)
        length = length**2 if length % 8 == 0 else length
        return Reply(json={"output": f"<|im_end|><tool_call>{'o' * length}"})

    async with endpoint(script) as server:
        play = Play(writer, server, egress_to(server), limits)
        trajectory = await play.run(scripted)
        first_policy, asked = play.policy, len(server.received)
        check_tokens(play, trajectory)
        used = len(trajectory.turns) + sum(
            len(m.get("tool_calls") or ()) for m in trajectory.messages
        )
        ran = len(trajectory.turns) + sum(c.name != UNPARSABLE_CALL for c in trajectory.tool_calls)
        assert ran <= steps
        assert used >= ran
        again = await play.run(scripted)
        await play.egress.aclose()
    assert first_policy.calls != []
    assert play.policy.calls == []
    assert len(server.received) == asked
    assert facts(again) == facts(trajectory)


async def test_a_replay_makes_no_request_and_is_identical(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        turns = [play.turn(search("a"), search("b")), play.turn("done")]
        first = await play.run(turns)
        stored = json.loads(json.dumps(play.journal.entries))  # as Postgres hands it back
        play.journal.entries = {key: (sha, payload) for key, (sha, payload) in stored.items()}
        again = await play.run(turns)
        await play.egress.aclose()
    assert facts(again) == facts(first)
    assert (len(server.received), play.policy.calls) == (2, [])
    assert set(play.journal.entries) == {
        KEY.turn_key(0), KEY.turn_key(1), KEY.call_id(0, 0), KEY.call_id(0, 1),
    }  # fmt: skip


async def test_a_killed_rollout_continues_with_the_same_ids(writer: Writer) -> None:
    failing = True

    def script(request: ReceivedRequest) -> Reply:
        if failing and "b" in request.json["arguments"]:
            return Reply(500)
        return echo(request)

    async with endpoint(script) as server:
        play = Play(writer, server, egress_to(server))
        turns = [play.turn(search("a")), play.turn(search("b")), play.turn("done")]
        with pytest.raises(RolloutFailure) as caught:
            await play.run(turns)
        failing = False
        before = len(server.received)
        trajectory = await play.run(turns[2:])  # only the last turn is sampled again
        await play.egress.aclose()
    assert caught.value.failure.failure_class is FailureClass.TOOL_ERROR
    assert [turn.policy_version for turn in trajectory.turns] == [3, 4, 3]
    assert [request.json["call_id"] for request in server.received[before:]] == [KEY.call_id(1, 0)]
    assert server.received[-1].json["call_id"] == server.received[before - 1].json["call_id"]


async def test_a_failure_keeps_what_was_played_for_the_trace(writer: Writer) -> None:
    async with endpoint(lambda _: Reply(502)) as server:
        play = Play(writer, server, egress_to(server))
        with pytest.raises(RolloutFailure, match="search: answered 502") as caught:
            await play.run([play.turn("so", search())])
        await play.egress.aclose()
    trajectory = caught.value.trajectory
    check_tokens(play, trajectory)
    assert (trajectory.stop_reason, trajectory.turns[0].content) == (None, "so")


@pytest.mark.parametrize(
    ("steps", "calls_run", "turns", "reason"),
    [
        (1, 0, 1, StopReason.MAX_STEPS),
        (2, 1, 1, StopReason.MAX_STEPS),
        (3, 2, 1, StopReason.MAX_STEPS),
        (4, 3, 1, StopReason.MAX_STEPS),
        (5, 3, 2, StopReason.FINAL_ANSWER),
    ],
)
async def test_the_step_limit_runs_the_allowed_prefix(
    writer: Writer, steps: int, calls_run: int, turns: int, reason: StopReason
) -> None:
    async with endpoint(echo) as server:
        limits = replace(LIMITS, max_episode_steps=steps)
        play = Play(writer, server, egress_to(server), limits)
        trajectory = await play.run(
            [play.turn(search("a"), search("b"), search("c")), play.turn("done")]
        )
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is reason
    assert (len(trajectory.turns), len(trajectory.tool_calls)) == (turns, calls_run)
    ran = sorted(json.loads(r.json["arguments"])["q"] for r in server.received)
    assert ran == ["a", "b", "c"][:calls_run]


async def test_broken_and_unknown_calls_are_reported_to_the_model(writer: Writer) -> None:
    broken = (search("a"), '<tool_call>\n{"name"\n</tool_call>')
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        trajectory = await play.run(
            [
                play.turn(*broken),
                play.turn(call_text("nothing", "{}")),
                play.turn(search("a")),
                play.turn("done"),
            ]
        )
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER
    calls = trajectory.tool_calls
    assert [(call.name, call.error, call.repeated) for call in calls] == [
        (UNPARSABLE_CALL, "parse_error", False),
        ("nothing", "unknown_tool", False),
        ("search", None, False),
    ]
    assert calls[0].output.startswith("Error: the tool call could not be parsed")
    assert [bool(turn.parse_error) for turn in trajectory.turns] == [True, False, False, False]
    text = writer.renderer.decode(trajectory.row.tokens)
    assert all(call.output in text for call in calls)
    assert len(server.received) == 1, "a turn with a broken call runs none of its calls"
    written = "\n".join(broken)
    assert trajectory.messages[1] == {"role": "assistant", "content": written}
    assert trajectory.turns[0].content == written, "an unparsable turn keeps its text"


async def test_the_documented_client_loop_is_the_episode_that_is_trained(writer: Writer) -> None:
    """Compares the prompts of an episode with those of a client that follows docs/tool-loop.md."""
    turns = ['Hm. <tool_call>\n{"name"\n</tool_call>', search("a"), "done"]
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        example = row(*NAMES)
        await play.run([play.turn(turn) for turn in turns], example)
        await play.egress.aclose()
    messages, prompts = list(example.messages), []
    for turn in turns:
        prompts.append(writer.renderer.prompt_ids(messages, example.tools))
        parsed = writer.renderer.parser.parse(writer.ids(turn))
        message: dict[str, Any] = {"role": "assistant", "content": parsed.content}
        reply = {"type": "unparsable_tool_call", "tool_call_id": "call_1"}
        if parsed.tool_calls:
            function = {"name": "search", "arguments": parsed.tool_calls[0].arguments_json}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
            reply["message"] = f"search says {function['arguments']}"
        elif (fault := call_fault(parsed.content)) is not None:
            reply["message"] = fault
        messages.append(message)
        messages.append({"role": "tool", "tool_call_id": "call_1", "content": reply.get("message")})
    assert prompts == [prompt for prompt, _ in play.policy.calls]
