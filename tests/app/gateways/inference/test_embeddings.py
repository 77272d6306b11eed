"""Embeddings over real HTTP: batches, texts that are asked for once, refused texts, odd replies."""

import asyncio
import base64
import json
import math
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from app.graders.embeddings import BatchedEmbeddings, EmbeddingFault, NoEmbeddings, build_embeddings
from app.graders.judge_calls import build_judge_egress
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, FaultKind
from app.settings import EgressSettings, EmbeddingSettings
from tests.support.cases import cases
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, Script, endpoint
from tests.support.grading.embedding_server import embeds, vector_of
from tests.support.rollout.rollouts import SECRET_KEY


@asynccontextmanager
async def embedding(
    script: Script, *, allowed: bool = True, max_body_bytes: int = 1_048_576
) -> AsyncIterator[tuple[BatchedEmbeddings, EndpointServer]]:
    async with endpoint(script) as server:
        settings = EmbeddingSettings(
            model="embedder", base_url=server.url("/v1"), api_key=SecretStr("key-1")
        )
        limits = EgressSettings(max_body_bytes=max_body_bytes)
        egress = build_judge_egress((), limits, embeddings=settings if allowed else None)
        endpoints = EndpointPool(egress, timeout_s=5.0, max_retries=2, jitter=lambda: 0.01)
        yield BatchedEmbeddings(settings, endpoints, CallSigner(SECRET_KEY, project_id="p")), server
        await egress.aclose()


async def test_texts_that_are_requested_together_share_requests() -> None:
    texts = [f"text {number}" for number in range(20)]
    async with embedding(embeds) as (embeddings, server):
        found = await asyncio.gather(*(embeddings.embed([text]) for text in texts))
    for text, (one,) in zip(texts, found, strict=True):
        assert list(one.numbers) == pytest.approx(vector_of(text))
    asked = [received.json for received in server.received]
    assert sorted(len(body["input"]) for body in asked) == [4, 16]
    assert {body["model"] for body in asked} == {"embedder"}
    received = server.received[0]
    assert (received.path, received.headers["authorization"]) == ("/v1/embeddings", "Bearer key-1")
    assert sum(one.tokens for (one,) in found) == 20 * 3, "each reply counts 3 for each text"


async def test_a_text_is_requested_once() -> None:
    async with embedding(embeds) as (embeddings, server):
        together = await asyncio.gather(*(embeddings.embed(["a", "b"]) for _ in range(5)))
        again = await embeddings.embed(["b", "a"])
    assert [received.json["input"] for received in server.received] == [["a", "b"]]
    assert sum(one.tokens for both in together for one in both) == 2 * 3
    assert [one.tokens for one in again] == [0, 0]
    assert again[0].cosine(again[1]) == pytest.approx(
        sum(x * y for x, y in zip(vector_of("a"), vector_of("b"), strict=True))
    )


async def test_a_refused_text_costs_no_other_one() -> None:
    def picky(received: ReceivedRequest) -> Reply:
        refused = any("too long" in text for text in received.json["input"])
        return Reply(400, json={"error": {"message": "key-1"}}) if refused else embeds(received)

    async with embedding(picky) as (embeddings, _):
        good, bad = await asyncio.gather(
            embeddings.embed(["fine"]), embeddings.embed(["too long"]), return_exceptions=True
        )
        assert isinstance(good, list)
        assert isinstance(bad, EmbeddingFault)
        assert (bad.kind, bad.message) == (FaultKind.ERROR, "refused the text with 400")
        with pytest.raises(EmbeddingFault):
            await embeddings.embed(["too long"])


async def test_a_reply_that_is_too_large_is_requested_in_parts() -> None:
    async with embedding(embeds, max_body_bytes=400) as (embeddings, server):
        found = await embeddings.embed([f"text {number}" for number in range(4)])
    assert len(found) == 4
    assert sorted(len(received.json["input"]) for received in server.received) == [1, 1, 1, 1, 4]


async def test_numbers_may_come_as_base64_and_in_any_order() -> None:
    def encoded(received: ReceivedRequest) -> Reply:
        texts = received.json["input"]
        data = [
            {
                "index": index,
                "embedding": base64.b64encode(array("f", vector_of(text)).tobytes()).decode(),
            }
            for index, text in enumerate(texts)
        ]
        return Reply(json={"data": data[::-1]})

    async with embedding(encoded) as (embeddings, _):
        one, two = await embeddings.embed(["a", "b"])
    assert list(one.numbers) == pytest.approx(vector_of("a"), abs=1e-6)
    assert list(two.numbers) == pytest.approx(vector_of("b"), abs=1e-6)
    assert one.tokens == 0


@cases(
    "content",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [math.nan]}]},
        {"data": [{"index": 0, "embedding": ["1"]}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ],
)
async def test_an_odd_reply_is_a_fault(content: Any) -> None:
    body = json.dumps(content).encode()
    async with embedding(lambda _: Reply(body=body)) as (embeddings, server):
        with pytest.raises(EmbeddingFault, match="gave no list of 1 embeddings") as caught:
            await embeddings.embed(["a"])
    assert caught.value.kind is FaultKind.BAD_REPLY
    assert len(server.received) == 3, "an unusable reply is asked for again"


async def test_an_unavailable_server_is_a_fault_and_called_again_later() -> None:
    replies = [Reply(503), Reply(503), Reply(503)]

    def unavailable(received: ReceivedRequest) -> Reply:
        return replies.pop() if replies else embeds(received)

    async with embedding(unavailable) as (embeddings, _):
        with pytest.raises(EmbeddingFault) as caught:
            await embeddings.embed(["a"])
        assert (caught.value.kind, caught.value.message) == (FaultKind.ERROR, "answered 503")
        assert len(await embeddings.embed(["a"])) == 1


async def test_a_caller_that_leaves_takes_nothing_from_the_others() -> None:
    async with embedding(embeds) as (embeddings, _):
        leaving = asyncio.create_task(embeddings.embed(["a"]))
        staying = asyncio.create_task(embeddings.embed(["a"]))
        await asyncio.sleep(0)
        leaving.cancel()
        assert len(await staying) == 1


async def test_only_the_configured_address_is_called() -> None:
    async with embedding(embeds, allowed=False) as (embeddings, server):
        with pytest.raises(EmbeddingFault) as caught:
            await embeddings.embed(["a"])
    assert caught.value.kind is FaultKind.REFUSED
    assert server.received == []


async def test_without_a_server_the_fault_names_the_setting() -> None:
    egress = EgressClient(EgressPolicy())
    endpoints = EndpointPool(egress, timeout_s=1.0, max_retries=0)
    embeddings = build_embeddings(None, endpoints, CallSigner(SECRET_KEY, project_id="p"))
    assert isinstance(embeddings, NoEmbeddings)
    with pytest.raises(EmbeddingFault, match="AGENT_RFT_EMBEDDINGS__MODEL"):
        await embeddings.embed(["a"])
    await egress.aclose()


async def test_texts_of_any_kind_can_be_sent() -> None:
    texts = ["\ud800", "😀" * 10, "a\x00b"]
    async with embedding(embeds) as (embeddings, _):
        assert len(await embeddings.embed(texts)) == 3
