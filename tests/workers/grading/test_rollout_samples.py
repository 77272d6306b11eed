"""The parts of `sample` that describe a whole rollout."""

from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from app.graders.definitions import Grader
from app.graders.judge import JudgeReply
from app.graders.samples import sample_object
from app.graders.scorer import GradingPorts
from app.kit.endpoints import CallSigner
from app.rollouts.trajectory import StopReason, TokenRow, ToolCallRecord, Trajectory, Turn
from tests.support.cases import cases
from tests.support.endpoints import Reply, endpoint
from tests.support.grading.judges import InMemoryJudges
from tests.support.rollout.rollouts import KEY, SECRET_KEY, egress_to, pool, row
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.grading.job_grader import build_grader
from workers.journal import InMemoryJournal

GRADERS: TypeAdapter[Any] = TypeAdapter(Grader)


def record(number: int, arguments: str, output: str, **more: Any) -> ToolCallRecord:
    call = ToolCallRecord(
        id=f"fc_{number}",
        call_id=f"call_{number}",
        name="search",
        arguments=arguments,
        output=output,
        error=None,
        latency_s=0.25,
        attempts=1,
        output_tokens=3,
        repeated=False,
    )
    return replace(call, **more)


def written(number: int, arguments: str) -> dict[str, Any]:
    function = {"name": "search", "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def two_turns() -> Trajectory:
    """Plays two calls, the second one refused, then two more of which a limit ran one."""
    first = Turn(
        (5, 6),
        (-0.5, -0.5),
        1,
        "",
        0,
        "stop",
        (record(1, '{"q": "Ulm"}', "a town"), record(2, "[", "Error: bad", error="bad_arguments")),
    )
    second = Turn((7,), (-0.5,), 1, "Let me", 0, "stop", (record(3, "{}", "x", repeated=True),))
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "the row's own", "tool_calls": [written(9, "{}")]},
        {"role": "tool", "content": "the row's own"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [written(1, '{"q": "Ulm"}'), written(2, "[")],
        },
        {"role": "tool", "content": "a town"},
        {"role": "tool", "content": "Error: bad"},
        {
            "role": "assistant",
            "content": "Let me",
            "tool_calls": [written(3, "{}"), written(4, "{}")],
        },
        {"role": "tool", "content": "x"},
    ]
    return Trajectory(
        KEY,
        [TokenRow([5, 6, 7], [1, 1, 1], [-0.5] * 3)],
        [first, second],
        messages,
        stop_reason=StopReason.MAX_STEPS,
    )


def test_every_call_is_listed_with_its_arguments_output_error_and_time() -> None:
    sample = sample_object(two_turns())
    assert sample["tool_calls"][0] == {
        "id": "call_1",
        "name": "search",
        "arguments": '{"q": "Ulm"}',
        "arguments_json": {"q": "Ulm"},
        "output": "a town",
        "error": None,
        "latency_s": 0.25,
        "repeated": False,
        "turn": 0,
    }
    assert [
        (c["id"], c["turn"], c["error"], c["arguments_json"], c["repeated"])
        for c in sample["tool_calls"][1:]
    ] == [
        ("call_2", 0, "bad_arguments", None, False),
        ("call_3", 1, None, {}, True),
        ("call_4", 1, "not_run", {}, True),
    ]
    assert sample["tool_calls"][3]["output"] is None
    assert sample["stop_reason"] == "max_episode_steps"


def test_every_turn_is_listed() -> None:
    assert sample_object(two_turns())["turns"] == [
        {
            "content": content,
            "finish_reason": "stop",
            "parse_error": None,
            "tool_calls": 2,
            "completion_tokens": tokens,
        }
        for content, tokens in (("", 2), ("Let me", 1))
    ]


def test_a_rollout_without_a_turn_has_empty_lists() -> None:
    sample = sample_object(Trajectory(KEY, messages=two_turns().messages))
    assert (sample["tool_calls"], sample["turns"], sample["stop_reason"]) == ([], [], None)


async def grade(spec: dict[str, Any]) -> float:
    async with endpoint(lambda _: Reply()) as server:
        egress = egress_to(server)
        judges = InMemoryJudges(lambda _: JudgeReply(""))
        ports = GradingPorts(
            pool(egress), CallSigner(SECRET_KEY, project_id="proj_a"), judges, InMemorySandbox()
        )
        grader = build_grader(GRADERS.validate_python(spec), ports)
        found = await grader.grade(two_turns(), row(), KEY, journal=InMemoryJournal())
        await egress.aclose()
    return found.score


@cases(
    ("path", "value"),
    [
        ("sample.tool_calls[0].arguments_json.q", "Ulm"),
        ("sample.tool_calls[1].error", "bad_arguments"),
        ("sample.tool_calls[2].repeated", "true"),
        ("sample.tool_calls[2].latency_s", "0.25"),
        ("sample.turns[1].content", "Let me"),
        ("sample.stop_reason", "max_episode_steps"),
    ],
)
async def test_templates_of_a_job_read_all_of_it(path: str, value: str) -> None:
    check = {"type": "string_check", "operation": "eq", "reference": value}
    assert await grade({**check, "input": "{{" + path + "}}"}) == 1.0
    penalty = {
        "type": "multi",
        "graders": {"bad": {**check, "input": "{{" + path + "}}"}},
        "calculate_output": "1 - 0.5 * bad",
    }
    assert await grade(penalty) == 0.5
