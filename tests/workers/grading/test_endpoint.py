import json
from typing import Any

from standardwebhooks import Webhook

from app.graders.judge import JudgeReply
from app.graders.kinds.remote import EndpointGrader
from app.graders.scorer import GradingPorts
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, signing_secret
from app.rollouts.trajectory import FailureClass, Grade, TokenRow, Trajectory, Turn
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.grading.judges import InMemoryJudges
from tests.support.rollout.rollouts import KEY, SECRET_KEY, egress_to, pool, row
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.grading.job_grader import GraderFailure, build_grader
from workers.journal import InMemoryJournal

CALLS = [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]


def ports(endpoints: EndpointPool) -> GradingPorts:
    signer = CallSigner(SECRET_KEY, project_id="proj_a")
    return GradingPorts(
        endpoints, signer, InMemoryJudges(lambda _: JudgeReply("")), InMemorySandbox()
    )


def trajectory(content: str = "42", *, finish: str = "stop", **message: Any) -> Trajectory:
    turn = Turn((5,), (-0.5,), 1, content, 0, finish)
    earlier: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "earlier", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "call_1", "content": "out"},
    ]
    final = {"role": "assistant", "content": content, **message}
    return Trajectory(KEY, [TokenRow([5], [1], [-0.5])], [turn, turn], [*earlier, final])


async def run(
    script: Script, played: Trajectory | None = None, **spec: Any
) -> tuple[Grade | GraderFailure, list[ReceivedRequest]]:
    async with endpoint(script) as server:
        egress = egress_to(server)
        grader = build_grader(
            EndpointGrader(type="endpoint", url=server.url("/grade"), name="g", **spec),
            ports(pool(egress)),
        )
        example = row("search", target=28)
        try:
            result: Grade | GraderFailure = await grader.grade(
                played or trajectory(), example, KEY, journal=InMemoryJournal()
            )
        except GraderFailure as failure:
            result = failure
        await egress.aclose()
    return result, server.received


def score(value: Any = 0.5, **more: Any) -> Script:
    return lambda _: Reply(body=json.dumps({"score": value, **more}).encode())


async def test_the_request_has_the_hosted_shape_and_is_signed() -> None:
    result, (request,) = await run(score(0.25), headers={"X-Key": "k"})
    assert isinstance(result, Grade)
    assert (result.score, result.components) == (0.25, {})
    assert 0 < result.latency_s < 5
    message = {"role": "assistant", "content": "42", "tool_calls": []}
    tools = row("search").tools
    expected = {
        "sample": {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "output_text": "42",
            "output_json": None,
            "output_tools": [],
            "output_reasoning_summary": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "name": "search",
                    "arguments": "{}",
                    "arguments_json": {},
                    "output": None,
                    "error": "not_run",
                    "latency_s": None,
                    "repeated": False,
                    "turn": 0,
                }
            ],
            "turns": [
                {
                    "content": "42",
                    "finish_reason": "stop",
                    "parse_error": None,
                    "tool_calls": count,
                    "completion_tokens": 1,
                }
                for count in (1, 0)
            ],
            "stop_reason": None,
        },
        "item": {
            "messages": [{"name": None, "role": "user", "content": "What is it?"}],
            "tools": tools,
            "parallel_tool_calls": True,
            "target": 28,
        },
        "trace_id": KEY.trace_id,
    }
    assert request.body.decode() == json.dumps(expected, separators=(",", ":"))
    assert request.headers["webhook-id"] == KEY.grade_id("g")
    assert request.headers["x-key"] == "k"
    Webhook(signing_secret(SECRET_KEY, "proj_a")).verify(request.body, request.headers)


@cases(
    ("played", "expected"),
    [
        (trajectory('{"a": [1]}'), {"output_json": {"a": [1]}}),
        (trajectory("7"), {"output_json": None}),
        (trajectory('{"a": NaN}'), {"output_json": None}),
        (trajectory('{"a": 1e999}'), {"output_json": None}),
        (trajectory("", tool_calls=CALLS), {"output_tools": CALLS, "output_text": ""}),
        (trajectory("x", reasoning_content="why"), {"output_reasoning_summary": "why"}),
    ],
)
async def test_the_sample_is_the_final_turn(played: Trajectory, expected: dict[str, Any]) -> None:
    _, (request,) = await run(score(), played)
    sample = request.json["sample"]
    assert {key: sample[key] for key in expected} == expected


@cases(
    ("played", "reason"),
    [
        (trajectory(), "stop"),
        (trajectory(finish="length"), "length"),
        (trajectory("", tool_calls=CALLS), "tool_calls"),
        (Trajectory(KEY, messages=[{"role": "user", "content": "q"}]), "length"),
    ],
)
async def test_the_finish_reason_names_how_the_turn_ended(played: Trajectory, reason: str) -> None:
    _, (request,) = await run(score(), played)
    assert request.json["sample"]["choices"][0]["finish_reason"] == reason


@cases("value", [0, 1, -1.5, 1e9, 0.1 + 0.2])
async def test_any_finite_number_is_a_score(value: float) -> None:
    result, _ = await run(score(value), pass_threshold=0.75)
    assert isinstance(result, Grade)
    assert result.score == value


BAD = [
    b'{"score": true}', b'{"score": "0.5"}', b'{"score": null}', b'{"score": NaN}',
    b'{"score": Infinity}', b'{"score": 1e999}', b'{"score": [1]}', b'{"reward": 1}', b"0.5",
    b"", b"{", b"[" * 100_000, b'{"score": ' + b"9" * 400 + b"}",
]  # fmt: skip


@cases("body", BAD, ids=lambda body: body[:24])
async def test_what_is_not_a_finite_number_is_tried_again_and_never_a_zero(body: bytes) -> None:
    result, received = await run(lambda _: Reply(body=body))
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_BAD_REPLY
    assert result.failure.source == "g"
    assert len(received) == 4


@cases("status", [400, 401, 404, 422, 429, 500, 503])
async def test_any_failing_status_is_infrastructure(status: int) -> None:
    result, received = await run(lambda _: Reply(status, {"score": 1.0}))
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_ERROR
    shown = "" if status in {429, 500, 503} else ' (no Content-Type): {"score": 1.0}'
    assert result.failure.message == f"answered {status}{shown}"
    assert [request.headers["x-attempt"] for request in received] == ["1", "2", "3", "4"]


async def test_too_large_replies_are_bad_and_redirects_are_not_followed() -> None:
    result, _ = await run(lambda _: Reply(body=b"x" * 1_048_577))
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_BAD_REPLY
    result, _ = await run(lambda _: Reply(307, {"score": 1}, headers={"Location": "/grade"}))
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_BAD_REPLY


async def test_components_are_well_named_finite_numbers() -> None:
    metrics = {
        "correct": 1,
        "a.b-c_9": -0.5,
        "bad name": 1,
        "": 1,
        "x" * 65: 1,
        "flag": True,
        "text": "1",
        "none": None,
    }
    result, _ = await run(score(1, metrics=metrics))
    assert isinstance(result, Grade)
    assert result.components == {"correct": 1.0, "a.b-c_9": -0.5}
    result, _ = await run(score(1, metrics={f"m{i}": i for i in range(50)}))
    assert isinstance(result, Grade)
    assert result.components == {f"m{i}": float(i) for i in range(32)}
    result, _ = await run(score(1, metrics=["correct"]))
    assert isinstance(result, Grade)
    assert result.components == {}


async def test_a_grade_is_journalled_and_not_requested_again() -> None:
    journal = InMemoryJournal()
    async with endpoint(score(0.5, metrics={"m": 2})) as server:
        egress = egress_to(server)
        grader = build_grader(
            EndpointGrader(type="endpoint", url=server.url(), name="g"), ports(pool(egress))
        )
        grades = [await grader.grade(trajectory(), row(), KEY, journal=journal) for _ in range(2)]
        await egress.aclose()
    assert grades[0] == grades[1]
    assert grades[0].components == {"m": 2.0}
    assert (len(server.received), list(journal.entries)) == (1, [KEY.grade_id("g")])


async def test_a_declared_rate_is_kept_over_sockets() -> None:
    async with endpoint(score()) as server:
        egress = egress_to(server)
        endpoints = pool(egress)
        spec = EndpointGrader(type="endpoint", url=server.url(), name="g", rate_limit=50)
        grader = build_grader(spec, ports(endpoints))
        for _ in range(60):
            await grader.grade(trajectory(), row(), KEY, journal=InMemoryJournal())
        await egress.aclose()
    times = [request.at for request in server.received]
    assert max(sum(start <= at < start + 1 for at in times) for start in times) <= 51
    assert times[-1] - times[0] >= 1.0
