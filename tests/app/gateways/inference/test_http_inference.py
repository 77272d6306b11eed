import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from app.jobs.results import EngineMachine
from app.kit.errors import InvalidRequest, Unavailable
from app.models.engine import AdapterMissing, Completion, EngineUnavailable
from app.models.engine_http import HttpInference
from tests.support.engines.scripted_engine import REPLY, ScriptedEngine
from tests.support.patience import PATIENCE_S
from workers.processes.clients import open_inference


async def _complete(inference: HttpInference, **changes: Any) -> Completion:
    wanted = {"max_tokens": 9, "temperature": 0.7, "seed": 11, "stop_token_ids": (2, 3)}
    return await inference.complete("base", [5, 6], **{**wanted, **changes})


async def test_completion_uses_the_protocol_of_vllm(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    completion = await _complete(inference, prompt_logprobs=True)
    assert completion == Completion((7, 2), (-0.5, -0.25), "stop", (None, -1.5))
    assert engine.requests == [
        (
            "/v1/completions",
            {
                "model": "base",
                "prompt": [5, 6],
                "max_tokens": 9,
                "temperature": 0.7,
                "seed": 11,
                "stop_token_ids": [2, 3],
                "ignore_eos": True,
                "logprobs": 0,
                "return_token_ids": True,
                "top_p": 1.0,
                "top_k": 0,
                "min_p": 0.0,
                "repetition_penalty": 1.0,
                "prompt_logprobs": 0,
            },
            "Bearer sk-engine",
        )
    ]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, AdapterMissing),
        (400, InvalidRequest),
        (500, EngineUnavailable),
        (503, EngineUnavailable),
    ],
)
async def test_statuses_become_errors(
    engine: ScriptedEngine, inference: HttpInference, status: int, error: type[Exception]
) -> None:
    engine.status = status
    engine.body = {"error": {"message": "The model `x` does not exist.", "param": "model"}}
    with pytest.raises(error):
        await _complete(inference)
    assert len(engine.requests) == 1  # nothing is retried here


async def test_the_engines_message_reaches_the_caller(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    engine.status, engine.body = (
        400,
        {"error": {"message": "prompt is too long", "param": "prompt"}},
    )
    with pytest.raises(InvalidRequest) as caught:
        await _complete(inference)
    assert (caught.value.message, caught.value.param) == ("prompt is too long", "prompt")


async def test_a_refused_key_is_not_worth_waiting_for(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    engine.status, engine.body = 401, {"error": "Unauthorized"}
    with pytest.raises(Unavailable) as caught:
        await _complete(inference)
    assert not isinstance(caught.value, EngineUnavailable)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"choices": []},
    ],
)
async def test_a_reply_of_unknown_shape_is_the_engines_fault(
    engine: ScriptedEngine, inference: HttpInference, body: Any
) -> None:
    engine.body = body
    with pytest.raises(EngineUnavailable):
        await _complete(inference)


async def test_a_404_that_is_not_about_a_model_is_no_missing_adapter(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    engine.status, engine.body = 404, {"detail": "Not Found"}
    with pytest.raises(EngineUnavailable):
        await _complete(inference)


async def test_a_dropped_connection_and_a_silent_engine_are_unavailable(
    engine: ScriptedEngine,
) -> None:
    client = HttpInference(engine.url, still_s=0.2)
    engine.cut_off = True
    with pytest.raises(EngineUnavailable):
        await _complete(client)
    engine.cut_off, engine.hang = False, True
    with pytest.raises(EngineUnavailable, match="in time"):
        await _complete(client)
    await client.aclose()


async def test_an_engine_reports_its_machine_or_does_not(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    reported = {"processor": "P", "batch_invariant": True}
    engine.body = {
        "data": [{"id": "a", "machine": reported}, {"id": "b"}, {"id": "c", "machine": {}}]
    }
    assert await inference.machine("a") == EngineMachine("P", batch_invariant=True)
    assert await inference.machine("b") is None
    assert await inference.machine("none") is None
    silent = await inference.machine("c")
    assert silent is not None
    assert not silent.batch_invariant


async def test_an_engine_lists_the_formats_that_it_gives_or_does_not(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    engine.body = {"data": [{"id": "a", "response_formats": ["text"]}, {"id": "b"}]}
    assert await inference.response_formats("a") == ("text",)
    assert await inference.response_formats("b") is None
    assert await inference.response_formats("none") is None


async def test_a_port_without_a_listener_is_unavailable(unused_tcp_port: int) -> None:
    client = HttpInference(f"http://127.0.0.1:{unused_tcp_port}")
    assert await client.healthy() is False
    with pytest.raises(EngineUnavailable):
        await client.model_names()
    await client.aclose()


async def test_adapters_and_models(engine: ScriptedEngine, inference: HttpInference) -> None:
    engine.body = {"object": "list", "data": [{"id": "base"}, {"id": "job@v1"}]}
    assert await inference.model_names() == ["base", "job@v1"]
    assert await inference.healthy() is True
    engine.body = b"Success"
    await inference.load_adapter("job@v2", Path("/adapters/2"))
    await inference.unload_adapter("job@v1")
    assert [request[:2] for request in engine.requests[2:]] == [
        ("/v1/load_lora_adapter", {"lora_name": "job@v2", "lora_path": "/adapters/2"}),
        ("/v1/unload_lora_adapter", {"lora_name": "job@v1"}),
    ]


async def test_a_missing_models_message_names_no_other_model(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    text = "The model `x` does not exist. Valid aliases: base, adapter-of-somebody."
    engine.status, engine.body = 404, {"error": {"message": text, "param": "model"}}
    with pytest.raises(AdapterMissing) as missing:
        await _complete(inference)
    assert missing.value.message == "The model `x` does not exist."


@pytest.mark.parametrize("status", [404, 500])
async def test_an_adapter_that_a_sound_engine_cannot_load_is_an_invalid_request(
    engine: ScriptedEngine, inference: HttpInference, status: int
) -> None:
    engine.status, engine.body = status, {"error": {"message": "No adapter found."}}
    engine.sound = True
    with pytest.raises(InvalidRequest):
        await inference.load_adapter("job@v2", Path("/adapters/2"))


async def test_chat_passes_through(engine: ScriptedEngine, inference: HttpInference) -> None:
    engine.body = {"id": "chatcmpl-1"}
    assert await inference.chat({"model": "base", "messages": []}) == {"id": "chatcmpl-1"}
    engine.body = b"data: 1\n\ndata: [DONE]\n\n"
    chunks = [chunk async for chunk in inference.chat_stream({"model": "base"})]
    assert b"".join(chunks) == b"data: 1\n\ndata: [DONE]\n\n"
    assert [body["stream"] for _, body, _ in engine.requests] == [False, True]


async def test_a_salt_goes_with_every_prompt_over_the_same_connections(
    engine: ScriptedEngine, inference: HttpInference
) -> None:
    await inference.complete("base", [5], max_tokens=1, temperature=1, seed=1, stop_token_ids=())
    namespaced = inference.with_cache_namespace("of a project")
    await _complete(namespaced)
    engine.body = {"id": "chatcmpl-1"}
    await namespaced.chat({"model": "base", "messages": []})
    engine.body = b"data: [DONE]\n\n"
    assert [chunk async for chunk in namespaced.chat_stream({"model": "base"})]
    salts = [body.get("cache_salt") for _, body, _ in engine.requests]
    assert salts == [None, *["of a project"] * 3]


async def test_background_work_is_ranked_behind_chats(engine: ScriptedEngine) -> None:
    for background, rank in ((True, 1), (False, None)):
        engine.requests.clear()
        client = HttpInference(engine.url, background=background)
        namespaced = client.with_cache_namespace("of a project")
        engine.body = REPLY
        await _complete(namespaced)
        engine.body = {"id": "chatcmpl-1"}
        await namespaced.chat({"model": "base", "messages": []})
        await client.aclose()
        assert [body.get("priority") for _, body, _ in engine.requests] == [rank, rank]


async def test_the_work_of_runs_is_in_the_background(engine: ScriptedEngine) -> None:
    settings: Any = SimpleNamespace(engine_url=engine.url, engine_api_key=SecretStr(""))
    client = open_inference(settings)
    await _complete(client)
    await client.aclose()
    assert [body["priority"] for _, body, _ in engine.requests] == [1]


async def test_256_requests_are_under_way_at_once(engine: ScriptedEngine) -> None:
    engine.hang = True
    client = HttpInference(engine.url)
    tasks = [asyncio.create_task(_complete(client)) for _ in range(256)]
    async with asyncio.timeout(PATIENCE_S):
        while len(engine.requests) < 256:  # noqa: ASYNC110 - the server has no such event
            await asyncio.sleep(0.01)
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await client.aclose()
