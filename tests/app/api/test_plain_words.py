"""No refusal of any operation quotes the library that validates."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from app.kit.texts import PATTERNS
from tests.support.api.application import Api
from tests.support.api.wrong_values import Schemas
from tests.support.web.application import required_of, specification

LIBRARY_WORDS = (
    "Input should", "Input tag", "Field required", "not a valid", "String should", "should have",
    "should match", "Value error", "Assertion failed", "Extra inputs", "Unable to", "unable to",
    "discriminator", "pydantic", '"ctx"', '"loc"', "valid dictionary", "another form",
    "wrong type",
)  # fmt: skip
SENDERS = 8


@pytest.mark.long
async def test_no_refused_body_is_answered_in_the_librarys_words(api: Api) -> None:
    document = (await api.http.get("/openapi.json")).json()
    schemas = Schemas(document["components"]["schemas"])
    calls = list(_bodies(document, schemas))
    assert len({path for path, _ in calls}) > 30
    refused = await _answers(api, calls)
    assert refused > len(calls) // 2


async def test_no_refused_query_is_answered_in_the_librarys_words(api: Api) -> None:
    document = (await api.http.get("/openapi.json")).json()
    calls = list(_queries(document))
    assert len(calls) > 60
    for path, name, value in calls:
        reply = await _ask(api, "GET", path, params={**required_of(path), name: value})
        if reply.status_code < 400:
            continue
        error = reply.json()["error"]
        assert not _leaks(reply.text), (path, name, reply.text)
        if reply.status_code == 400:
            assert error["param"].removesuffix("[0]") == name, (path, reply.text)
            assert f"'{error['param']}'" in error["message"], (path, reply.text)
            assert "^" not in error["message"], (path, reply.text)


def test_every_pattern_of_a_request_has_words() -> None:
    document = specification()
    assert set(_patterns(document)) - PATTERNS.keys() == set()


def _bodies(document: dict[str, Any], schemas: Schemas) -> Iterator[tuple[str, Any]]:
    for path, methods in document["paths"].items():
        content = methods.get("post", {}).get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            continue
        for body in schemas.wrong_bodies(content["application/json"]["schema"]):
            yield path.format_map(_AnyId()), body


def _queries(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", ()):
            if parameter["in"] == "query":
                for value in ("a b", "-7", "9" * 30, "x" * 300):
                    yield path.format_map(_AnyId()), parameter["name"], value


async def _answers(api: Api, calls: list[tuple[str, Any]]) -> int:
    """Sends all calls, several at once. Returns the number of refusals."""
    remaining, refused = iter(calls), 0

    async def send() -> None:
        nonlocal refused
        for path, body in remaining:
            reply = await _ask(api, "POST", path, json=body)
            assert reply.status_code < 500 or reply.status_code == 503, (path, body, reply.text)
            if reply.status_code >= 400 or path.endswith("/validate"):
                refused += 1
                assert not _leaks(reply.text), (path, body, reply.text)

    async with asyncio.TaskGroup() as senders:
        for _ in range(SENDERS):
            senders.create_task(send())
    return refused


async def _ask(api: Api, method: str, path: str, **sent: Any) -> Any:
    key = api.admin_key if path.startswith("/v1/organization") else api.key
    return await api.call(method, path, key=key, **sent)


def _leaks(text: str) -> list[str]:
    return [words for words in LIBRARY_WORDS if words in text]


def _patterns(node: Any) -> Iterator[str]:
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict | list):
            yield from _patterns(inner)
    if isinstance(node, dict) and isinstance(node.get("pattern"), str):
        yield node["pattern"]


class _AnyId(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "x"
