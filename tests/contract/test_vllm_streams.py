"""Recorded streams of vLLM reach an `openai` client in the form of the specification."""

from typing import Any

import httpx
import pytest

from tests.support.contract.service import BASE, Service
from tests.support.engines.conversations import PLAIN
from tests.support.engines.vllm_chunks import chunks_in, recorded
from tests.support.models.tiny_model import LOOKUP
from tests.support.web.specification import EVENTS, Specification

MESSAGES: Any = [{"role": "user", "content": "hi"}]
TOOLS: Any = [LOOKUP]


@pytest.fixture(scope="module")
def specification(service: Service) -> Specification:
    return Specification(service.api.base_url)


@pytest.mark.parametrize("name", sorted(recorded()))
def test_each_chunk_fits_the_specification(
    service: Service, specification: Specification, name: str
) -> None:
    service.engine.stream[:] = recorded()[name]
    reply = service.http.post(
        f"{service.api.base_url}/chat/completions",
        json={
            "model": BASE,
            "messages": MESSAGES,
            "tools": TOOLS,
            "stream": True,
            "stream_options": {"include_usage": True},
        },
        headers={"Authorization": f"Bearer {service.api.key}"},
    )
    assert reply.status_code == httpx.codes.OK
    chunks = chunks_in(reply.text.splitlines())
    assert len(chunks) == len(recorded()[name])
    assert {chunk["model"] for chunk in chunks} == {BASE}
    for chunk in chunks:
        specification.check("createChatCompletion", chunk, kind=EVENTS)


def _final(service: Service, name: str) -> Any:
    """The message that the client's own helper puts together from a recorded stream."""
    service.engine.stream[:] = recorded()[name]
    with service.client().chat.completions.stream(
        model=BASE, messages=MESSAGES, tools=TOOLS
    ) as stream:
        return stream.get_final_completion().choices[0]


def test_the_pieces_of_calls_add_up(service: Service) -> None:
    choice = _final(service, "tool calls")
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content.strip() == "Looking."
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert calls == [("lookup", '{"record": "P017"}'), ("lookup", '{"record": "P233"}')]


def test_a_plain_answer_adds_up(service: Service) -> None:
    choice = _final(service, "plain")
    assert (choice.finish_reason, choice.message.content) == ("stop", PLAIN[1]["content"])
