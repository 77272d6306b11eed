import asyncio
import json
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.data.dataset import DatasetRow
from app.domain.errors import RunFailed
from app.domain.rollouts.trajectory import FailureClass, StopReason, Trajectory
from app.gateways.egress.client import EgressClient
from app.rendering.renderer import call_fault
from tests.support.endpoints import EndpointServer, Received, Reply, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollouts import KEY, caller, egress_to, pool, row
from workers.environments.single_turn import SingleTurn
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.grader_samples import sample_object
from workers.journal.journal import InMemoryJournal
from workers.rollout.episode import UNPARSABLE, EpisodeLimits, RolloutFailure, run_episode
from workers.rollout.replies import NOTICE

LIMITS = EpisodeLimits(max_episode_steps=20, context_length=4096, max_turn_tokens=400)
NAMES = ("search", "lookup")


@dataclass
class Play:
    """One rollout against a live server."""

    writer: Writer
    server: EndpointServer
    egress: EgressClient
    limits: EpisodeLimits = LIMITS
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    policy: ScriptedPolicy = field(default_factory=lambda: ScriptedPolicy([], ()))

    async def run(self, turns: list[list[int]], example: DatasetRow | None = None) -> Trajectory:
        self.policy = ScriptedPolicy(turns, self.writer.renderer.stop_token_ids)
        urls = dict.fromkeys(NAMES, self.server.url())
        return await run_episode(
            example or row(*NAMES),
            KEY,
            policy=self.policy,
            renderer=self.writer.renderer,
            environment=ToolEnvironment(caller(pool(self.egress, timeout_s=PATIENCE_S), urls)),
            journal=self.journal,
            limits=self.limits,
            job_seed=7,
            temperature=0.8,
        )

    def turn(self, *parts: str) -> list[int]:
        return [*self.writer.ids("\n".join(parts)), self.writer.end]


def echo(request: Received) -> Reply:
    call = request.json
    return Reply(json={"output": f"{call['name']} says {call['arguments']}"})


def search(q: str = "x") -> str:
    return call_text("search", json.dumps({"q": q}))


def sampled_only(values: list[Any], mask: list[int]) -> list[Any]:
    return [value for value, trained in zip(values, mask, strict=True) if trained]


def facts(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, started_at=0.0, finished_at=0.0)


def check_tokens(play: Play, trajectory: Trajectory) -> None:
    """Checks the invariants of every rollout, for any stop reason."""
    trajectory.check()
    given = play.policy.turns[: len(trajectory.turns)]
    assert [list(turn.token_ids) for turn in trajectory.turns] == [
        ids[: params.max_tokens] for ids, (_, params) in zip(given, play.policy.calls, strict=True)
    ]
    flat_ids = [token for turn in trajectory.turns for token in turn.token_ids]
    flat_logprobs = [logprob for turn in trajectory.turns for logprob in turn.logprobs]
    assert sampled_only(trajectory.tokens, trajectory.mask) == flat_ids
    assert sampled_only(trajectory.logprobs, trajectory.mask) == flat_logprobs
    assert flat_logprobs == [
        -(token + 1) / 1000 - number
        for number, turn in enumerate(trajectory.turns)
        for token in turn.token_ids
    ]
    assert all(
        logprob == 0.0
        for logprob, trained in zip(trajectory.logprobs, trajectory.mask, strict=True)
        if not trained
    )
    # Each prompt is what stands before the turn: nothing was encoded again or left out.
    for (prompt, _), turn in zip(play.policy.calls, trajectory.turns, strict=True):
        start = len(prompt)
        assert trajectory.tokens[:start] == prompt
        assert trajectory.tokens[start : start + len(turn.token_ids)] == list(turn.token_ids)
        assert trajectory.mask[start : start + len(turn.token_ids)] == [1] * len(turn.token_ids)
    assert trajectory.mask[: trajectory.prompt_tokens] == [0] * trajectory.prompt_tokens
    assert len(trajectory.tokens) <= play.limits.context_length


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
    assert "lookup says" in writer.renderer.decode(trajectory.tokens)
    params = [params for _, params in play.policy.calls]
    assert [p.seed for p in params] == [KEY.seed(7, turn) for turn in range(3)]
    assert {(p.temperature, p.max_tokens, p.stop_token_ids) for p in params} == {
        (0.8, 400, writer.renderer.stop_token_ids)
    }
    assert trajectory.finished_at >= trajectory.started_at > 1e9


async def test_parallel_calls_overlap_and_answer_in_the_order_asked(writer: Writer) -> None:
    together = asyncio.Barrier(3)

    async def script(request: Received) -> Reply:
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
    text = writer.renderer.decode(trajectory.tokens)
    assert text.index("<a>") < text.index("<b>") < text.index("<c>")
    assert len({request.json["call_id"] for request in server.received}) == 3


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
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
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

    def script(request: Received) -> Reply:
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
        ran = len(trajectory.turns) + sum(c.name != UNPARSABLE for c in trajectory.tool_calls)
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


async def test_a_killed_rollout_goes_on_with_the_same_ids(writer: Writer) -> None:
    failing = True

    def script(request: Received) -> Reply:
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
        (UNPARSABLE, "parse_error", False),
        ("nothing", "unknown_tool", False),
        ("search", None, False),
    ]
    assert calls[0].output.startswith("Error: the tool call could not be parsed")
    assert [bool(turn.parse_error) for turn in trajectory.turns] == [True, False, False, False]
    text = writer.renderer.decode(trajectory.tokens)
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
        parsed = writer.renderer.parse(writer.ids(turn))
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
    assert [writer.renderer.decode(prompt) for prompt in prompts] == [
        writer.renderer.decode(prompt) for prompt, _ in play.policy.calls
    ]


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


async def test_a_long_reply_is_cut_to_fit_and_says_so(writer: Writer) -> None:
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
    assert trajectory.mask[-1] == 1


async def test_a_turn_that_is_cut_ends_by_the_token_limit(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server), replace(LIMITS, max_turn_tokens=3))
        trajectory = await play.run([play.turn("many words that do not fit")])
        await play.egress.aclose()
    check_tokens(play, trajectory)
    assert (trajectory.stop_reason, trajectory.completion_tokens) == (StopReason.TOKEN_LIMIT, 3)


async def test_a_cut_turn_with_a_whole_call_goes_on_with_its_end_of_turn_added(
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
    assert (trajectory.tokens[added], trajectory.mask[added]) == (writer.end, 0)
    assert trajectory.stop_reason is StopReason.FINAL_ANSWER


async def test_a_prompt_without_room_is_a_stop_not_an_error(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server), EpisodeLimits(5, 64, 32))
        trajectory = await play.run([], row(question="long " * 200))
        await play.egress.aclose()
    assert (trajectory.stop_reason, trajectory.turns) == (StopReason.TOKEN_LIMIT, [])
    assert (play.policy.calls, sum(trajectory.mask)) == ([], 0)


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
    assert "lookup" not in writer.renderer.decode(trajectory.tokens[: trajectory.prompt_tokens])


async def test_a_row_the_template_refuses_names_the_example(writer: Writer) -> None:
    async with endpoint(echo) as server:
        play = Play(writer, server, egress_to(server))
        bad = replace(row(), messages=[{"role": "user", "content": [{"type": "image"}]}])
        with pytest.raises(RunFailed, match="Example 6 of the training file") as caught:
            await play.run([], bad)
        await play.egress.aclose()
    assert (caught.value.code, caught.value.param) == ("invalid_training_file", "training_file")
