import json

import pytest

from app.kit.egress import EgressReply
from app.kit.endpoints import EndpointFault, FaultKind
from app.tools.tool_calls import ToolCall, read_output
from tests.support.cases import cases


def reply(status: int, body: bytes) -> EgressReply:
    return EgressReply(status, {}, body, 0.0)


def test_a_call_is_ascii_json_with_arguments_as_text() -> None:
    call = ToolCall("search", '{"q": "é\ud800"}', "call_1", "fc_1", "trace_1", {"city": "Ulm"})
    request = call.request({"X-Key": "k"})
    assert request.body.isascii()
    assert json.loads(request.body) == {
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search",
        "arguments": '{"q": "é\ud800"}', "trace_id": "trace_1", "item": {"city": "Ulm"},
    }  # fmt: skip
    assert (request.call_id, request.trace_id, request.headers) == (
        "call_1", "trace_1", {"X-Key": "k"},
    )  # fmt: skip
    assert call.request(None).headers == {}


@cases(
    ("status", "body", "text", "error"),
    [
        (200, b'{"output": "x"}', "x", None),
        (200, b'{"output": "Error: no"}', "Error: no", "tool_reported"),
        (404, b'{"output": "gone"}', "gone", "http_404"),
        (400, b'{"detail": 1}', 'Error: 400 {"detail": 1}', "http_400"),
        (413, b"", "Error: 413", "http_413"),
    ],
)
def test_what_a_model_reads(status: int, body: bytes, text: str, error: str | None) -> None:
    assert read_output(reply(status, body)) == (text, error)


@cases("body", [b"", b"[]", b'{"output": null}', b"[" * 100_000, b"\xff"])
def test_a_good_status_without_a_text_is_the_endpoints_fault(body: bytes) -> None:
    with pytest.raises(EndpointFault) as caught:
        read_output(reply(200, body))
    assert caught.value.kind is FaultKind.BAD_REPLY
