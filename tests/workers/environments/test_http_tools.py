import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from app.kit.endpoints import retry_after, signing_secret
from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.trajectory import FailureClass
from app.tools.tools import ToolOutcome
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.rollout.rollouts import (
    KEY,
    SECRET_KEY,
    call_once,
    caller,
    egress_to,
    pool,
    schema,
)
from workers.journal import InMemoryJournal
from workers.rollout.environment import CallPosition, ToolFailure

POSITION = CallPosition(KEY, 0, 0)
SCHEMAS = [schema("search", q="string")]
CALL = ParsedToolCall("search", '{"q": "é"}')
MIB = 1_048_576


async def run(
    script: Script, call: ParsedToolCall = CALL, *, timeout_s: float = 5.0, **extra: Any
) -> tuple[ToolOutcome | ToolFailure, list[ReceivedRequest]]:
    async with endpoint(script) as server:
        egress = egress_to(server)
        tools = caller(pool(egress, timeout_s=timeout_s), {"search": server.url()}, **extra)
        try:
            result: ToolOutcome | ToolFailure = await call_once(
                tools, call, SCHEMAS, journal=InMemoryJournal()
            )
        except ToolFailure as failure:
            result = failure
        await egress.aclose()
    return result, server.received


def output(text: Any) -> Script:
    return lambda _: Reply(json={"output": text})


async def test_the_request_is_byte_shaped_and_signed() -> None:
    result, received = await run(output("found"), headers={"Authorization": "Bearer k"})
    assert isinstance(result, ToolOutcome)
    assert (result.output, result.error, result.attempts) == ("found", None, 1)
    (request,) = received
    assert request.body.decode() == (
        f'{{"type":"function_call","id":"{POSITION.function_call_id}",'
        f'"call_id":"{POSITION.call_id}","name":"search","arguments":"{{\\"q\\": \\"\\u00e9\\"}}",'
        f'"trace_id":"{KEY.trace_id}","item":{{}}}}'
    )
    assert json.loads(request.json["arguments"]) == {"q": "é"}
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["webhook-id"] == POSITION.call_id
    assert request.headers["idempotency-key"] == POSITION.call_id
    assert request.headers["x-rollout-id"] == KEY.trace_id
    assert request.headers["x-attempt"] == "1"
    Webhook(signing_secret(SECRET_KEY, "proj_a")).verify(request.body, request.headers)


@cases(
    ("reply", "text", "error"),
    [
        (Reply(json={"output": ""}), "", None),
        (Reply(201, {"output": "x", "id": "fc", "more": 1}), "x", None),
        (Reply(json={"output": "Error: no such record"}), "Error: no such record", "tool_reported"),
        (Reply(404, {"output": "no such page"}), "no such page", "http_404"),
        (Reply(404, {"error": "gone"}), 'Error: 404 {"error": "gone"}', "http_404"),
        (Reply(400, body=b"plain \xff text"), "Error: 400 plain \ufffd text", "http_400"),
        (Reply(422, body=b""), "Error: 422", "http_422"),
        (Reply(409, {"output": 5}), 'Error: 409 {"output": 5}', "http_409"),
        (Reply(400, body=b"x" * 20_000), "Error: 400 " + "x" * 8000, "http_400"),
        (Reply(json={"output": "a\x00b\ud800"}), "a\ufffdb\ufffd", None),
        (Reply(body=b"x" * (MIB + 1)), "Error: 413 the tool's reply is larger than 1 MB.",
         "too_large"),
    ],
)  # fmt: skip
async def test_what_the_model_reads(reply: Reply, text: str, error: str | None) -> None:
    result, received = await run(lambda _: reply)
    assert isinstance(result, ToolOutcome)
    assert (result.output, result.error) == (text, error)
    assert len(received) == 1


@cases("status", [408, 425, 429, 500, 502, 503, 504, 599])
async def test_a_status_of_the_infrastructure_is_tried_four_times(status: int) -> None:
    result, received = await run(lambda _: Reply(status, {"output": "not for the model"}))
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_ERROR
    assert (result.failure.message, result.failure.source) == (f"answered {status}", "search")
    assert [request.headers["x-attempt"] for request in received] == ["1", "2", "3", "4"]
    assert len({request.headers["webhook-id"] for request in received}) == 1
    assert len({request.headers["idempotency-key"] for request in received}) == 1
    assert len({request.body for request in received}) == 1


async def test_the_third_retry_may_succeed() -> None:
    replies = iter([Reply(500), Reply(503), Reply(429), Reply(json={"output": "at last"})])
    result, received = await run(lambda _: next(replies))
    assert isinstance(result, ToolOutcome)
    assert (result.output, result.attempts, len(received)) == ("at last", 4, 4)


HTML, JSON = {"Content-Type": "text/html; charset=utf-8"}, {"Content-Type": "application/json"}
WITHOUT: dict[str, Reply] = {
    'the object has no such key, but \'result\' (application/json): {"result": "x"}': Reply(
        json={"result": "x"}, headers=JSON
    ),
    'there it is a number (no Content-Type): {"output": 5}': Reply(json={"output": 5}),
    'there it is null (no Content-Type): {"output": null}': Reply(json={"output": None}),
    'there it is an object (no Content-Type): {"output": {}}': Reply(json={"output": {}}),
    'the body is a list, not an object (no Content-Type): ["output"]': Reply(json=["output"]),
    'the body is a text in quotation marks, not an object (application/json): "7"': Reply(
        json="7", headers=JSON
    ),
    f"the body is not JSON (text/html): <!doctype html> <p>{'x' * 61}…": Reply(
        body=b"<!doctype html>\n<p>" + b"x" * 999, headers=HTML
    ),
    'the body is not UTF-8 (no Content-Type): {"output": "caf\ufffd"}': Reply(
        body='{"output": "café"}'.encode("latin-1")
    ),
    f"the body is nested too deeply (no Content-Type): {'[' * 80}…": Reply(body=b"[" * 100_000),
    "the body is empty (no Content-Type)": Reply(body=b""),
}


@cases("said", list(WITHOUT))
async def test_a_malformed_reply_is_tried_again_and_then_named(said: str) -> None:
    result, received = await run(lambda _: WITHOUT[said])
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_BAD_REPLY
    assert result.failure.message == f"answered 200 without a text `output`: {said}"
    assert len(received) == 4


@cases(
    ("reply", "said"),
    [
        (Reply(204, body=b""), "the body is empty (no Content-Type)"),
        (
            Reply(307, {"output": "x"}, headers={"Location": "/other?key=hidden-1"}),
            "redirects are not followed (Location: /other?key=[redacted])",
        ),
        (
            Reply(json={"you": "x" * 65 + "a-secret-key-1"}),  # the cut would leave a part of it
            (
                "the object has no such key, but 'you' (no Content-Type): "
                f'{{"you": "{"x" * 65}[redac…'
            ),
        ),
    ],
)
async def test_a_reply_that_no_tool_means_is_named(reply: Reply, said: str) -> None:
    result, _ = await run(lambda _: reply, headers={"Authorization": "a-secret-key-1"})
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_BAD_REPLY
    words = f"answered {reply.status} without a text `output`: "
    assert result.failure.message == words + said


async def test_a_compressed_reply_is_named() -> None:
    reply = Reply(json={"output": "x"}, headers={"Content-Encoding": "gzip"})
    result, _ = await run(lambda _: reply)
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_BAD_REPLY
    assert result.failure.message == (
        "answered 200 with a compressed body (Content-Encoding: gzip); send it as it is"
    )


@cases("status", [401, 403])
async def test_a_wrong_key_is_no_text_for_the_model(status: int) -> None:
    result, received = await run(lambda _: Reply(status, {"output": "no"}, headers=JSON))
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_ERROR
    assert result.failure.message == (
        f"answered {status}: check the 'headers' of the tool (application/json): "
        '{"output": "no"}'
    )
    assert len(received) == 4


async def test_a_hang_ends_at_the_deadline() -> None:
    result, received = await run(lambda _: Reply(delay_s=60), timeout_s=0.3)
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_TIMEOUT
    assert len(received) == 1


async def test_a_connection_that_breaks_is_unreachable() -> None:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    result, received = await run(lambda _: nothing())
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.TOOL_UNREACHABLE
    assert len(received) == 4


async def test_an_endpoint_that_may_not_be_dialled_is_refused_at_once() -> None:
    async with endpoint(output("x")) as server:
        egress = egress_to()
        tools = caller(pool(egress), {"search": server.url()})
        with pytest.raises(ToolFailure) as caught:
            await call_once(tools, CALL, SCHEMAS, journal=InMemoryJournal())
        await egress.aclose()
    assert caught.value.failure.failure_class is FailureClass.ENDPOINT_REFUSED
    assert server.connections == 0


async def test_a_service_header_in_the_job_is_refused() -> None:
    result, received = await run(output("x"), headers={"webhook-id": "mine"})
    assert isinstance(result, ToolFailure)
    assert result.failure.failure_class is FailureClass.ENDPOINT_REFUSED
    assert received == []


@cases(
    ("call", "error", "text"),
    [
        (ParsedToolCall("other", "{}"), "unknown_tool", "Error: there is no tool 'other'."),
        (ParsedToolCall("search", "[1]"), "bad_arguments", "not a JSON object"),
        (ParsedToolCall("search", "{"), "bad_arguments", "not a JSON object"),
        (ParsedToolCall("search", "{}"), "bad_arguments", "'q' is missing"),
        (ParsedToolCall("search", '{"q": 1}'), "bad_arguments", "'q' must be of type string"),
        (ParsedToolCall("search", '{"q": "a", "z": 1}'), "bad_arguments", "'z' is not a parameter"),
        (ParsedToolCall("search", json.dumps({"q": "x" * MIB})), "too_large", "413"),
    ],
)
async def test_a_call_that_cannot_be_sent_is_answered_without_a_request(
    call: ParsedToolCall, error: str, text: str
) -> None:
    result, received = await run(output("x"), call)
    assert isinstance(result, ToolOutcome)
    assert (result.error, result.attempts) == (error, 0)
    assert text in result.output
    assert received == []


@cases(
    ("value", "kind", "fits"),
    [
        ("1", "number", False), ("true", "integer", False), ("1.0", "integer", True),
        ("1.5", "integer", False), ("1.5", "number", True), ("true", "boolean", True),
        ("[1]", "array", True), ("{}", "object", True), ("null", "null", True),
        ("null", ["string", "null"], True), ("1", ["string", "null"], False),
        ("1", "made-up", True), ("1", None, True),
    ],
)  # fmt: skip
async def test_types_are_checked_as_json_schema_means_them(
    value: str, kind: Any, fits: bool
) -> None:
    value = '"1"' if value == "1" and kind == "number" else value
    parameters = {"type": "object", "properties": {"q": {"type": kind}}}
    tool = {"type": "function", "function": {"name": "search", "parameters": parameters}}
    async with endpoint(output("sent")) as server:
        egress = egress_to(server)
        outcome = await call_once(
            caller(pool(egress), {"search": server.url()}),
            ParsedToolCall("search", f'{{"q": {value}}}'),
            [tool],
            journal=InMemoryJournal(),
        )
        await egress.aclose()
    assert (outcome.output == "sent") is fits


async def test_a_reply_is_journalled_and_not_requested_again() -> None:
    journal = InMemoryJournal()
    async with endpoint(output("once")) as server:
        egress = egress_to(server)
        tools = caller(pool(egress), {"search": server.url()})
        first = await call_once(tools, CALL, SCHEMAS, journal=journal)
        again = await call_once(tools, CALL, SCHEMAS, journal=journal)
        other = ParsedToolCall("search", '{"q": "another"}')
        await call_once(tools, other, SCHEMAS, journal=journal)
        await egress.aclose()
    assert first == again
    assert len(server.received) == 2
    assert list(journal.entries) == [POSITION.call_id]


@cases(
    ("value", "low", "high"),
    [
        (None, 0, 0),
        ("0", 0, 0),
        ("7", 7, 7),
        (" 7 ", 7, 7),
        ("-5", 0, 0),
        ("1.5", 0, 0),
        ("soon", 0, 0),
        ("٧", 0, 0),
    ],
)
def test_retry_after_in_seconds(value: str | None, low: float, high: float) -> None:
    assert low <= retry_after(value) <= high


def test_retry_after_as_a_date() -> None:
    soon, past = (datetime.now(UTC) + timedelta(seconds=sign * 1000) for sign in (1, -1))
    assert 900 <= retry_after(format_datetime(soon, usegmt=True)) <= 1000
    assert retry_after(format_datetime(past, usegmt=True)) == 0
