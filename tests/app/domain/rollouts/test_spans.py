from typing import Any

from app.kit.ids import new_id
from app.rollouts.rollouts import RolloutRow, last_turn, prompt_messages, trace_of

EARLIER = [
    {"role": "user", "content": "before"},
    {"role": "assistant", "content": "an earlier answer, of the row's own"},
    {"role": "user", "content": "and now?"},
]
CALLS = [
    {"id": f"call_{n}", "type": "function", "function": {"name": n, "arguments": "{}"}}
    for n in ("lookup", "calculator")
]


def a_rollout(written: list[dict[str, Any]], turns: list[dict[str, Any]]) -> RolloutRow:
    return RolloutRow(
        id=new_id("rollout_"),
        project_id="p",
        job_id="ftjob-1",
        split="valid",
        step=3,
        prompt_index=0,
        sample_index=0,
        attempt=0,
        trace_id="trace_1",
        reward=1.0,
        failure_class=None,
        failure_message=None,
        stop_reason="final_answer",
        policy_version=3,
        prompt_tokens=10,
        completion_tokens=7,
        reasoning_tokens=0,
        tool_calls=2,
        components={},
        trace={"messages": [*EARLIER, *written], "turns": turns},
        started_at=10.0,
        finished_at=20.5,
    )


def a_turn(*calls: dict[str, Any], parse_error: str | None = None) -> dict[str, Any]:
    return {
        "tokens": 4,
        "reasoning_tokens": 1,
        "finish_reason": "stop",
        "parse_error": parse_error,
        "tool_calls": list(calls),
    }


def a_call(name: str, error: str | None = None) -> dict[str, Any]:
    return {"name": name, "arguments": "{}", "output": "ok", "error": error, "latency_s": 0.25}


def test_every_turn_and_every_call_becomes_a_span() -> None:
    row = a_rollout(
        [
            {"role": "assistant", "content": "", "tool_calls": CALLS},
            {"role": "tool", "tool_call_id": "call_lookup", "content": "1"},
            {"role": "tool", "tool_call_id": "call_calculator", "content": "2"},
            {"role": "assistant", "content": "done"},
        ],
        [a_turn(a_call("lookup"), a_call("calculator", "http_404")), {**a_turn(), "row": 1}],
    )
    trace = trace_of(row, model="m", model_config={"seed": 1})
    spans = trace["spans"]
    assert (trace["type"], trace["started_at"], trace["ended_at"]) == ("trace", 10.0, 20.5)
    assert [span["span_data"]["type"] for span in spans] == [
        "GENERATION",
        "FUNCTION",
        "FUNCTION",
        "GENERATION",
    ]
    first, lookup, calculator, last = spans
    assert len({span["id"] for span in spans}) == 4
    assert {span["object"] for span in spans} == {"trace.span"}
    assert first["parent_id"] is None
    assert lookup["parent_id"] == calculator["parent_id"] == first["id"]
    assert [message["content"] for message in first["span_data"]["input"]] == [
        message["content"] for message in EARLIER
    ]
    assert first["span_data"]["output"][0]["recipient"] == "functions.lookup"
    assert first["span_data"]["usage"] == {"output_tokens": 4, "reasoning_tokens": 1}
    assert lookup["span_data"]["name"] == "functions.lookup"
    assert (lookup["error"], lookup["duration_s"]) == (None, 0.25)
    assert calculator["error"] == {"message": "http_404"}
    assert len(last["span_data"]["input"]) == len(EARLIER) + 3
    assert last["row"] == 1, "its context was rendered anew"
    assert last["span_data"]["output"] == [
        {"role": "assistant", "content": "done", "recipient": "all"}
    ]


def test_a_rows_own_turns_are_its_prompt() -> None:
    row = a_rollout([{"role": "assistant", "content": "mine"}], [a_turn()])
    assert prompt_messages(row) == EARLIER
    assert last_turn(row) == {"role": "assistant", "content": "mine"}


def test_a_rollout_that_wrote_nothing_has_no_spans() -> None:
    row = a_rollout([], [])
    assert trace_of(row, model="m", model_config={})["spans"] == []
    assert last_turn(row) is None
    assert prompt_messages(row) == EARLIER
