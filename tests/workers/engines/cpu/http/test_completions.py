import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
import torch
from peft import PeftModel
from transformers import Qwen3ForCausalLM

from app.kit.errors import InvalidRequest
from app.models.engine import AdapterMissing, Completion
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from tests.support.engines.engine_server import running_engine
from tests.support.models.tiny_model import (
    CONTEXT_LENGTH,
    VOCAB_SIZE,
    save_adapter,
    save_tiny_model,
)
from tests.support.patience import until
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.batching.sequence import Sequence
from workers.engines.cpu.engine import Engine

KEY = "sk-engine"
HEADERS = {"Authorization": f"Bearer {KEY}"}


class World:
    """A running engine, its model directory, and two adapters."""

    def __init__(self, url: str, model_dir: Path, adapters: list[Path]) -> None:
        self.url = url
        self.model_dir = model_dir
        self.adapters = adapters

    def reference(self, adapter: Path | None) -> Any:
        model = Qwen3ForCausalLM.from_pretrained(self.model_dir)
        tuned = model if adapter is None else PeftModel.from_pretrained(model, str(adapter))
        tuned.train(mode=False)
        return tuned


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("engine")
    model_dir = save_tiny_model(root / "model")
    adapters = [save_adapter(model_dir, root / f"adapter{i}", seed=i) for i in (1, 2)]
    spec = BaseModelSpec(name="tiny", path=str(model_dir), context_length=CONTEXT_LENGTH)
    with running_engine([spec], api_key=KEY, limits=Limits(threads=2, max_rows=48)) as url:
        yield World(url, model_dir, adapters)


@pytest.fixture
async def inference(world: World) -> AsyncIterator[HttpInference]:
    client = HttpInference(world.url, api_key=KEY, timeout_s=60)
    yield client
    for name in await client.model_names():
        if name != "tiny":
            await client.unload_adapter(name)
    await client.aclose()


def _prompts(count: int, seed: int = 0, low: int = 1, high: int = 60) -> list[list[int]]:
    rng = random.Random(seed)
    return [
        [rng.randrange(VOCAB_SIZE) for _ in range(rng.randint(low, high))] for _ in range(count)
    ]


async def _complete(
    inference: HttpInference, prompt: list[int], seed: int, model: str = "tiny", **changes: Any
) -> Completion:
    wanted = {"max_tokens": 24, "temperature": 1.0, "stop_token_ids": ()}
    return await inference.complete(model, prompt, seed=seed, **{**wanted, **changes})


def _forward_logprobs(
    model: Any, prompt: list[int], sampled: tuple[int, ...], temperature: float = 1.0
) -> list[float]:
    ids = torch.tensor([[*prompt, *sampled]])
    with torch.inference_mode():
        logits = model(ids).logits[0, len(prompt) - 1 : -1] / temperature
    scores = torch.log_softmax(logits, -1).gather(1, torch.tensor(sampled)[:, None])[:, 0]
    found: list[float] = scores.tolist()
    return found


def _worst(left: tuple[float, ...], right: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


async def test_log_probs_equal_those_of_transformers_and_peft(
    world: World, inference: HttpInference
) -> None:
    await inference.load_adapter("v1", world.adapters[0])
    prompts, temperature = _prompts(32), 0.6
    for model, reference in (
        ("tiny", world.reference(None)),
        ("v1", world.reference(world.adapters[0])),
    ):
        done = await asyncio.gather(
            *(
                _complete(inference, prompt, seed, model, temperature=temperature)
                for seed, prompt in enumerate(prompts)
            )
        )
        for prompt, completion in zip(prompts, done, strict=True):
            expected = _forward_logprobs(reference, prompt, completion.token_ids, temperature)
            assert _worst(completion.logprobs, expected) <= 1e-4


async def test_prompt_log_probs_equal_those_of_peft(world: World, inference: HttpInference) -> None:
    await inference.load_adapter("v1", world.adapters[0])
    (prompt,) = _prompts(1, seed=3, low=40)
    done = await _complete(inference, prompt, 0, "v1", prompt_logprobs=True, temperature=0.5)
    assert done.prompt_logprobs is not None
    first, *rest = done.prompt_logprobs
    assert first is None
    scores = tuple(value for value in rest if value is not None)
    expected = _forward_logprobs(world.reference(world.adapters[0]), prompt[:1], tuple(prompt[1:]))
    assert _worst(scores, expected) <= 1e-4


async def test_requests_join_and_leave_a_running_batch(
    world: World, inference: HttpInference
) -> None:
    reference = world.reference(None)
    prompts = _prompts(20, seed=4)

    async def late(index: int) -> Completion:
        await asyncio.sleep(0.02 * index)
        return await _complete(inference, prompts[index], index, max_tokens=3 + 7 * (index % 5))

    done = await asyncio.gather(*(late(index) for index in range(20)))
    for index, completion in enumerate(done):
        assert len(completion.token_ids) == 3 + 7 * (index % 5)
        expected = _forward_logprobs(reference, prompts[index], completion.token_ids)
        assert _worst(completion.logprobs, expected) <= 1e-4


async def test_more_requests_than_rows_wait_their_turn(inference: HttpInference) -> None:
    done = await asyncio.gather(
        *(_complete(inference, prompt, 0, max_tokens=4) for prompt in _prompts(130, seed=5))
    )
    assert [len(completion.token_ids) for completion in done] == [4] * 130


async def test_new_weights_never_meet_old_keys_and_values(
    world: World, inference: HttpInference
) -> None:
    """Reuses a name after an unload, for which vLLM's prefix cache returns stale entries."""
    (prompt,) = _prompts(1, seed=9, low=50)
    await inference.load_adapter("v1", world.adapters[0])
    await _complete(inference, prompt, 1, "v1")
    await inference.unload_adapter("v1")
    await inference.load_adapter("v1", world.adapters[1])
    done = await _complete(inference, prompt, 1, "v1")
    reference = world.reference(world.adapters[1])
    assert _worst(done.logprobs, _forward_logprobs(reference, prompt, done.token_ids)) <= 1e-4


async def test_the_next_turn_reuses_the_last_one(world: World, http: aiohttp.ClientSession) -> None:
    (prompt,) = _prompts(1, seed=10, low=50)
    first = await _post(http, {"prompt": prompt, "max_tokens": 20, "seed": 1})
    sampled = first["choices"][0]["token_ids"]
    longer = [*prompt, *sampled, 17, 18, 19]
    second = await _post(http, {"prompt": longer, "max_tokens": 20, "seed": 2})
    assert second["usage"]["prompt_tokens_details"]["cached_tokens"] == len(prompt) + 19
    choice = second["choices"][0]
    expected = _forward_logprobs(world.reference(None), longer, tuple(choice["token_ids"]))
    assert _worst(tuple(choice["logprobs"]["token_logprobs"]), expected) <= 1e-4


async def test_a_group_computes_its_prompt_once(world: World, http: aiohttp.ClientSession) -> None:
    (prompt,) = _prompts(1, seed=11, low=55)
    reply = await _post(http, {"prompt": prompt, "max_tokens": 12, "seed": 1, "n": 8})
    texts = {tuple(choice["token_ids"]) for choice in reply["choices"]}
    assert len(texts) == 8
    assert reply["usage"]["completion_tokens"] == 96
    reference = world.reference(None)
    for choice in reply["choices"]:
        expected = _forward_logprobs(reference, prompt, tuple(choice["token_ids"]))
        assert _worst(tuple(choice["logprobs"]["token_logprobs"]), expected) <= 1e-4
    alone = await _post(http, {"prompt": prompt, "max_tokens": 12, "seed": 1})
    assert alone["choices"][0]["token_ids"] == reply["choices"][0]["token_ids"]


@pytest.fixture
async def http(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(world.url, headers=HEADERS) as session:
        yield session


async def _post(http: aiohttp.ClientSession, body: dict[str, Any]) -> dict[str, Any]:
    full = {"model": "tiny", "logprobs": 0, "return_token_ids": True, "stop_token_ids": [], **body}
    async with http.post("/v1/completions", json=full) as response:
        assert response.status == 200, await response.text()
        reply: dict[str, Any] = await response.json()
        return reply


async def test_a_streamed_completion_is_the_whole_one(http: aiohttp.ClientSession) -> None:
    body = {"prompt": [5, 6, 7], "max_tokens": 9, "seed": 4}
    whole = (await _post(http, body))["choices"][0]
    full = {"model": "tiny", "logprobs": 2, "return_token_ids": True, "stop_token_ids": [], **body}
    tokens: list[int] = []
    async with http.post("/v1/completions", json={**full, "stream": True}) as response:
        events = (await response.read()).split(b"\n\n")[:-1]
    assert events[-1] == b"data: [DONE]"
    chunks = [json.loads(event[6:]) for event in events[:-1]]
    for chunk in chunks:
        tokens += chunk["choices"][0]["token_ids"]
        assert len(chunk["choices"][0]["logprobs"]["top_logprobs"][0]) == 2
    assert tokens == whole["token_ids"]
    assert [c["choices"][0]["finish_reason"] for c in chunks] == [None] * 8 + ["length"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": []}, "prompt"),
        ({"prompt": [5, "6"]}, "prompt.1"),
        ({"prompt": [5, VOCAB_SIZE]}, "not in the vocabulary"),
        ({"prompt": [5] * CONTEXT_LENGTH}, "maximum context length"),
        ({"prompt": [5], "max_tokens": 0}, "max_tokens"),
        ({"prompt": [5], "temperature": "hot"}, "temperature"),
        (
            {"prompt": [5], "repetition_penalty": 1.1},
            "'repetition_penalty' does not support 1.1 here",
        ),
        ({"prompt": [5], "seed": 2**70}, "seed"),
        ({"prompt": [5], "stream": True, "n": 2}, "n"),
    ],
)
async def test_bad_bodies_are_400(
    http: aiohttp.ClientSession, body: dict[str, Any], message: str
) -> None:
    async with http.post("/v1/completions", json={"model": "tiny", **body}) as response:
        assert response.status == 400
        error = (await response.json())["error"]
    assert message in error["message"]


async def test_unknown_names(http: aiohttp.ClientSession, inference: HttpInference) -> None:
    async with http.post("/v1/completions", json={"model": "x", "prompt": [5]}) as response:
        assert response.status == 404
    with pytest.raises(AdapterMissing):
        await inference.unload_adapter("x")
    with pytest.raises(InvalidRequest, match="cannot be unloaded"):
        await inference.unload_adapter("tiny")
    with pytest.raises(InvalidRequest, match="No adapter directory"):
        await inference.load_adapter("v1", Path("/nowhere"))
    async with http.get("/nowhere") as response:
        assert response.status == 404


async def test_adapters_are_listed_under_their_base(
    world: World, inference: HttpInference, http: aiohttp.ClientSession
) -> None:
    await inference.load_adapter("v1", world.adapters[0])
    async with http.get("/v1/models") as response:
        data = (await response.json())["data"]
    assert [(model["id"], model["parent"]) for model in data] == [("tiny", None), ("v1", "tiny")]
    assert data[1]["root"] == str(world.adapters[0])


async def test_a_client_that_leaves_stops_its_sequence(
    inference: HttpInference, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fills all 48 rows with long requests; each ends as cancelled, and a short one finishes."""
    begun: list[Sequence] = []
    begin = Engine.sequence

    def recorded(*args: Any, **kwargs: Any) -> Sequence:
        begun.append(begin(*args, **kwargs))
        return begun[-1]

    monkeypatch.setattr(Engine, "sequence", recorded)
    long = [
        asyncio.create_task(_complete(inference, prompt, 0, max_tokens=480))
        for prompt in _prompts(48, seed=12, high=4)
    ]
    await until(lambda: len(begun) == len(long), what="the last request's arrival")
    running = [sequence for sequence in begun if sequence.finish_reason is None]
    for task in long:
        task.cancel()
    await asyncio.gather(*long, return_exceptions=True)
    await until(lambda: all(one.finish_reason for one in begun), what="the end of all sequences")
    # A few may have been computed to their end while the first ones were being cancelled.
    ends = [sequence.finish_reason for sequence in running]
    assert ends.count("cancelled") > len(ends) / 2 > 0
    reply = await _post(http, {"prompt": [5], "max_tokens": 2})
    assert reply["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize("sent", [b"sk-engine", b"Bearer \xff"])
async def test_a_request_without_the_key_is_refused(world: World, sent: bytes) -> None:
    address = urlsplit(world.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = b"GET /v1/models HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n"
    writer.write(head + b"Authorization: " + sent + b"\r\n\r\n")
    reply = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert reply.startswith(b"HTTP/1.1 401 ")
