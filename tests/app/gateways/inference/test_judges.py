import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply
from app.graders.judge_calls import (
    EngineModel,
    EngineModels,
    RoutedJudges,
    build_judge_egress,
    read_completion,
)
from app.jobs.response_formats import template_variables
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, FaultKind
from app.kit.objects import LocalObjects
from app.models.engine import AdapterCache
from app.models.engine_http import HttpInference
from app.settings import EgressSettings, JudgeSettings
from tests.support.cases import cases
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, Script, endpoint
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.objects.stored_directories import store_directory

SECRET_KEY = "a service secret key of 32 bytes and more"
FORMAT = {"type": "json_schema", "json_schema": {"name": "score", "schema": {}}}
COMPLETION = {
    "choices": [{"message": {"role": "assistant", "content": "1", "refusal": None}}],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}


def question(model: str = "judge-1", **changes: Any) -> JudgeQuestion:
    fields: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": "?"}],
        "response_format": FORMAT,
        "call_id": "grade_1",
        "trace_id": "trace_1",
        "sampling": {"temperature": 0},
    }
    return JudgeQuestion(**{**fields, **changes})


def pool(egress: EgressClient, timeout_s: float = 2.0) -> EndpointPool:
    return EndpointPool(egress, timeout_s=timeout_s, max_retries=3, jitter=lambda: 0.01)


async def ask(
    asked: JudgeQuestion,
    *,
    engine_url: str = "http://127.0.0.1:9",
    models: dict[str, EngineModel] | None = None,
    configured: tuple[JudgeSettings, ...] = (),
    customers: tuple[EndpointServer, ...] = (),
    directory: Path = Path("/nowhere"),
    times: int = 1,
) -> JudgeReply | JudgeFault:
    """Returns the last answer of `times` questions."""
    inference = HttpInference(engine_url)
    operators = build_judge_egress(configured, EgressSettings())
    allowed = frozenset(server.host_port for server in customers)
    guarded = EgressClient(EgressPolicy(allowed, allow_plain_http=True))

    async def find(name: str) -> EngineModel | None:
        return (models or {}).get(name)

    judges = RoutedJudges(
        EngineModels(inference, _adapters(directory), find),
        configured=configured,
        configured_endpoints=pool(operators),
        endpoints=pool(guarded),
        signer=CallSigner(SECRET_KEY, project_id="proj_a"),
    )
    answer: JudgeReply | JudgeFault | None = None
    try:
        for _ in range(times):
            answer = await judges.ask(asked)
    except JudgeFault as fault:
        answer = fault
    finally:
        for client in (inference, operators, guarded):
            await client.aclose()
    assert answer is not None
    return answer


def _adapters(directory: Path) -> AdapterCache:
    return AdapterCache(LocalObjects(directory), directory / "work", max_bytes=1 << 20)


@pytest.fixture
def engine() -> Iterator[ChatEngine]:
    with chat_engine("base") as running:
        running.answer = '{"result": 0.5}'
        yield running


BASE = {"tiny": EngineModel("tiny", "base", None)}
TUNED = {"ft:x": EngineModel("ft:x", "model-1", "adapters/1")}


async def test_a_base_model_of_the_service_judges(engine: ChatEngine) -> None:
    reply = await ask(question("tiny"), engine_url=engine.url, models=BASE)
    assert isinstance(reply, JudgeReply)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ('{"result": 0.5}', 3, 1)
    assert engine.bodies[0] == {
        "temperature": 0,
        "model": "base",
        "messages": [{"role": "user", "content": "?"}],
        "response_format": FORMAT,
        "stream": False,
    }


async def test_a_tuned_model_is_loaded_when_it_is_missing(
    engine: ChatEngine, tmp_path: Path
) -> None:
    store_directory(tmp_path, "adapters/1")
    reply = await ask(question("ft:x"), engine_url=engine.url, models=TUNED, directory=tmp_path)
    assert isinstance(reply, JudgeReply)
    assert "model-1" in engine.models


async def test_a_tuned_model_judges_with_the_effort_it_was_trained_with(
    engine: ChatEngine, tmp_path: Path
) -> None:
    store_directory(tmp_path, "adapters/1")
    models = {"ft:x": EngineModel("ft:x", "model-1", "adapters/1", "high")}
    for _ in range(2):
        await ask(question("ft:x"), engine_url=engine.url, models=models, directory=tmp_path)
    assert [body["chat_template_kwargs"] for body in engine.bodies] == [
        template_variables("high")
    ] * len(engine.bodies)


async def test_a_tuned_model_that_is_lost_again_at_once_is_waited_for(
    engine: ChatEngine, tmp_path: Path
) -> None:
    engine.forgets = 2
    store_directory(tmp_path, "adapters/1")
    reply = await ask(question("ft:x"), engine_url=engine.url, models=TUNED, directory=tmp_path)
    assert isinstance(reply, JudgeReply)
    assert len(engine.bodies) == 6


async def test_an_engine_that_is_unavailable_for_a_moment_is_waited_for(engine: ChatEngine) -> None:
    engine.refusals += [(503, "busy"), (500, "broken")]
    reply = await ask(question("tiny"), engine_url=engine.url, models=BASE)
    assert isinstance(reply, JudgeReply)
    assert len(engine.bodies) == 3


async def test_an_engine_that_stays_unavailable_is_a_fault() -> None:
    fault = await ask(question("tiny"), models=BASE)
    assert isinstance(fault, JudgeFault)
    assert (fault.kind, fault.message) == (FaultKind.UNREACHABLE, "the engine is unavailable")


async def test_an_engine_that_hangs_is_a_fault_in_time(engine: ChatEngine) -> None:
    engine.hang = True
    fault = await ask(question("tiny"), engine_url=engine.url, models=BASE)
    assert isinstance(fault, JudgeFault)
    assert fault.kind is FaultKind.TIMEOUT


async def test_a_refused_request_is_reported_without_the_engines_name(engine: ChatEngine) -> None:
    engine.models.add("model-1")
    engine.refusals.append((400, "The prompt is too long for model-1."))
    asked = question("ft:x", response_format=None)
    fault = await ask(asked, engine_url=engine.url, models=TUNED)
    assert isinstance(fault, JudgeFault)
    assert fault.kind is FaultKind.ERROR
    assert fault.message == "the engine refused: The prompt is too long for ft:x."


async def test_an_engine_that_refuses_a_format_is_asked_without_it(engine: ChatEngine) -> None:
    engine.refusals += [(400, "Failed to parse grammar")] * 2
    fault = await ask(question("tiny"), engine_url=engine.url, models=BASE)
    assert isinstance(fault, JudgeFault)
    assert fault.message == "the engine refused: Failed to parse grammar"
    engine.refusals.append((400, "response_format: only text is supported"))
    reply = await ask(question("tiny"), engine_url=engine.url, models=BASE)
    assert isinstance(reply, JudgeReply)
    assert ["response_format" in body for body in engine.bodies] == [True, False] * 2


async def test_an_unknown_model_is_a_fault() -> None:
    fault = await ask(question("nobody"))
    assert isinstance(fault, JudgeFault)
    assert fault.message == "the model 'nobody' does not exist"


async def served(
    script: Script, **changes: Any
) -> tuple[JudgeReply | JudgeFault, list[ReceivedRequest]]:
    """Asks a model on a server of the operator."""
    async with endpoint(script) as server:
        settings = JudgeSettings.model_validate(
            {"models": ["judge-1"], "base_url": server.url("/v1/"), "api_key": "sk-operator"}
        )
        return await ask(question(**changes), configured=(settings,)), server.received


async def test_token_counts_that_cannot_be_true_are_not_counted() -> None:
    usage = {"prompt_tokens": 10**9 + 1, "completion_tokens": -1, "prompt_tokens_details": [7]}
    reply, _ = await served(lambda _: Reply(json={**COMPLETION, "usage": usage}))
    assert isinstance(reply, JudgeReply)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (0, 0, 0)


@pytest.mark.parametrize(
    ("reason", "is_cut_off"),
    [
        *((reason, True) for reason in ("length", "content_filter", "abort")),
        *((reason, False) for reason in ("STOP", "end_turn", None, 1)),
    ],
)
def test_a_reply_that_its_server_ends_is_cut_off(reason: Any, is_cut_off: bool) -> None:
    choice = {"message": {"content": "1"}, "finish_reason": reason}
    reply = read_completion({"choices": [choice]}, latency_s=0.0)
    assert reply.is_cut_off is is_cut_off
    assert reply.text == "1"


def test_a_content_of_parts_is_their_text_without_the_reasoning() -> None:
    thinking = [{"type": "text", "text": "2?"}]
    parts = [{"type": "thinking", "thinking": thinking}, {"type": "reasoning", "text": "3?"}]
    parts += [{"text": "1"}, 7]
    choices = [{"message": {"content": [*parts, {"type": "text", "text": "0"}]}}]
    assert read_completion({"choices": choices}, latency_s=0.0).text == "10"


async def test_a_server_of_the_operators_with_its_key() -> None:
    reply, (request,) = await served(lambda _: Reply(json=COMPLETION))
    assert isinstance(reply, JudgeReply)
    assert (reply.text, reply.refusal) == ("1", None)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (10, 2, 4)
    assert reply.latency_s > 0
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-operator"
    assert request.headers["idempotency-key"] == "grade_1"
    assert request.json["model"] == "judge-1"
    assert request.json["response_format"] == FORMAT


async def test_what_passes_is_tried_again() -> None:
    replies = iter([Reply(503), Reply(429), Reply(body=b"{"), Reply(json=COMPLETION)])
    reply, received = await served(lambda _: next(replies))
    assert isinstance(reply, JudgeReply)
    assert [request.headers["x-attempt"] for request in received] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("body", [b"[]", b'{"choices": []}', b'{"choices": [{"message": 1}]}'])
async def test_what_is_no_completion_is_a_fault(body: bytes) -> None:
    fault, received = await served(lambda _: Reply(body=body))
    assert isinstance(fault, JudgeFault)
    assert fault.kind is FaultKind.BAD_REPLY
    assert len(received) == 4


@pytest.mark.parametrize("status", [401, 404])
async def test_what_would_not_change_is_not_tried_again(status: int) -> None:
    refused = Reply(status, {"error": {"message": "sk-operator"}})
    fault, received = await served(lambda _: refused, response_format=None)
    assert isinstance(fault, JudgeFault)
    shown = f"answered {status} (no Content-Type)"
    assert (fault.kind, fault.message) == (FaultKind.ERROR, shown)
    assert len(received) == 1


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_that_refuses_a_format_is_asked_without_it(status: int) -> None:
    def script(request: ReceivedRequest) -> Reply:
        return Reply(status) if "response_format" in request.json else Reply(json=COMPLETION)

    reply, received = await served(script)
    assert isinstance(reply, JudgeReply)
    assert len(received) == 2
    fault, received = await served(lambda _: Reply(status))
    assert isinstance(fault, JudgeFault)
    assert (fault.message, len(received)) == (f"answered {status} (no Content-Type)", 2)


@cases(
    ("reply", "said"),
    [
        (Reply(401, {"error": "no key 'Bearer mine'"}), "answered 401 (no Content-Type): "),
        (Reply(400, {"error": "'temperature'"}), "answered 400 (no Content-Type): "),
        (Reply(body=b"<html>"), "answered 200 without a message in `choices`: the body is not "),
    ],
)
async def test_a_customers_server_that_refuses_is_quoted(reply: Reply, said: str) -> None:
    async with endpoint(lambda _: reply) as server:
        headers = {"Authorization": "Bearer mine"}
        asked = question(base_url=server.url("/v1"), headers=headers, response_format=None)
        fault = await ask(asked, customers=(server,))
    assert isinstance(fault, JudgeFault)
    assert fault.message.startswith(said)
    assert "Bearer mine" not in fault.message
    assert any(each in fault.message for each in ("no key", "temperature", "<html>"))


async def test_a_customers_server_gets_the_customers_headers_alone() -> None:
    async with endpoint(lambda _: Reply(json=COMPLETION)) as server:
        asked = question(base_url=server.url("/v1"), headers={"Authorization": "Bearer mine"})
        reply = await ask(asked, customers=(server,))
    assert isinstance(reply, JudgeReply)
    assert server.received[0].headers["authorization"] == "Bearer mine"


async def test_a_customers_address_goes_through_the_guard() -> None:
    async with endpoint(lambda _: Reply(json=COMPLETION)) as server:
        operators = JudgeSettings(models=("judge-1",), base_url=server.url("/v1"))
        fault = await ask(question(base_url=server.url("/v1")), configured=(operators,))
    assert isinstance(fault, JudgeFault)
    assert fault.kind is FaultKind.REFUSED
    assert server.received == []


def test_an_operators_key_reaches_a_child_process_and_no_log() -> None:
    judge = JudgeSettings.model_validate(
        {"models": ["m"], "base_url": "https://j.example/v1", "api_key": "sk-secret"}
    )
    assert "sk-secret" not in repr(judge)
    assert "sk-secret" not in str(judge.model_dump())
    assert JudgeSettings.model_validate(json.loads(judge.model_dump_json())) == judge
