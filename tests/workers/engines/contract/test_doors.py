"""The endpoints that an engine serves, and the key that they require."""

import aiohttp
import pytest

from tests.support.engines.contract import World

SERVED = [
    ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/completions"),
    ("POST", "/v1/load_lora_adapter"),
    ("POST", "/v1/unload_lora_adapter"),
]
# These exist in vLLM 0.32, and all but the two under `/inference` answer without the key.
HIDDEN = [
    ("POST", "/adapters"),
    ("DELETE", "/adapters/v1"),
    ("POST", "/collective_rpc"),
    ("GET", "/docs"),
    ("POST", "/generative_scoring"),
    ("POST", "/inference/v1/abort_requests"),
    ("POST", "/inference/v1/generate"),
    ("POST", "/invocations"),
    ("GET", "/openapi.json"),
    ("POST", "/pause"),
    ("POST", "/reset_prefix_cache"),
    ("POST", "/scale_elastic_ep"),
    ("POST", "/sleep"),
    ("POST", "/tokenize"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/responses"),
]
KEYS = [{}, {"Authorization": "Bearer wrong"}]


@pytest.mark.parametrize(("method", "path"), SERVED)
async def test_everything_but_health_needs_the_key(world: World, method: str, path: str) -> None:
    async with aiohttp.ClientSession(world.url) as stranger:
        for headers in KEYS:
            async with stranger.request(method, path, headers=headers, json={}) as response:
                assert response.status == 401
                assert "key" in (await response.json())["error"]["message"]
        async with stranger.get("/health") as response:
            assert response.status == 200


@pytest.mark.parametrize(("method", "path"), HIDDEN)
async def test_nothing_else_is_served_even_with_the_key(
    world: World, http: aiohttp.ClientSession, method: str, path: str
) -> None:
    body = {"model": world.spec.name}
    async with http.request(method, path, json=body) as response:
        assert response.status == 404
    async with (
        aiohttp.ClientSession(world.url) as stranger,
        stranger.request(method, path, json=body) as response,
    ):
        assert response.status in (401, 404)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
async def test_what_is_no_json_object_is_400(http: aiohttp.ClientSession, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/completions", "/v1/chat/completions", "/v1/load_lora_adapter"):
        async with http.post(path, data=content, headers=headers) as response:
            assert response.status == 400
            assert (await response.json())["error"]["message"]
