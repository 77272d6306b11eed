import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from app.http.rate_limits import RateLimits, RedisRateLimits
from tests.support.api.application import Api, running
from tests.support.cases import cases
from tests.support.dashboard.visits import visiting
from tests.support.stack import Database
from tests.support.twins import InMemoryRateLimits
from tests.support.web.one_window import hold_window

LIMIT = 5
MODELS = "/v1/models"


@pytest.fixture
async def api(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Api]:
    hold_window(monkeypatch)
    changed = database.settings.model_copy(update={"requests_per_minute": LIMIT})
    async with running(replace(database, settings=changed)) as api:
        yield api


async def test_a_projects_requests_are_counted_and_reported_in_headers(api: Api) -> None:
    replies = [await api.call("GET", MODELS) for _ in range(LIMIT + 2)]
    assert [reply.status_code for reply in replies] == [200] * LIMIT + [429] * 2
    remaining = [reply.headers["x-ratelimit-remaining-requests"] for reply in replies]
    assert remaining == ["4", "3", "2", "1", "0", "0", "0"]
    assert {reply.headers["x-ratelimit-limit-requests"] for reply in replies} == {"5"}
    reset = replies[0].headers["x-ratelimit-reset-requests"]
    assert re.fullmatch(r"(\d+ms|\d+s|1m0s)", reset)
    refused = replies[-1]
    error = refused.json()["error"]
    assert (error["type"], error["code"]) == ("requests", "rate_limit_exceeded")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    wait_ms = int(refused.headers["retry-after-ms"])
    assert 0 <= int(refused.headers["retry-after"]) * 1000 - wait_ms < 1000
    assert refused.headers["x-request-id"].startswith("req_")
    # Another tenant has a window of its own; a stranger has none.
    assert (await api.call("GET", MODELS, key=api.other_key)).status_code == 200
    stranger = await api.call("GET", MODELS, key="art_project_x")
    assert stranger.status_code == 401
    assert "x-ratelimit-limit-requests" not in stranger.headers


async def test_pages_are_counted_apart_from_calls(api: Api) -> None:
    async with visiting(api.http) as visit:
        await visit.sign_in(api.key)
        pages = [await visit.get("/") for _ in range(LIMIT + 1)]
    assert [page.status_code for page in pages] == [200] * LIMIT + [429]
    assert 0 < int(pages[-1].headers["retry-after"]) <= 60
    assert "more than 5 times a minute" in pages[-1].text
    replies = [await api.call("GET", MODELS) for _ in range(LIMIT)]
    assert {reply.status_code for reply in replies} == {200}


async def test_an_answer_given_again_counts_as_a_request(api: Api) -> None:
    key = {"Idempotency-Key": "k"}
    grader = {"type": "string_check", "name": "s", "input": "a", "reference": "b"}
    body = {"grader": {**grader, "operation": "eq"}}
    path = "/v1/fine_tuning/alpha/graders/validate"
    replies = [await api.call("POST", path, json=body, headers=key) for _ in range(LIMIT)]
    assert [reply.headers["x-ratelimit-remaining-requests"] for reply in replies] == list("43210")
    assert [reply.headers.get("idempotent-replayed") for reply in replies] == [
        None,
        *["true"] * (LIMIT - 1),
    ]
    for refused in (body, {}):
        reply = await api.call("POST", path, json=refused, headers=key)
        assert reply.status_code == 429
        assert reply.json()["error"]["code"] == "rate_limit_exceeded"
        assert 0 < int(reply.headers["retry-after"]) <= 60
    scope = {**key, "OpenAI-Organization": "second"}
    reply = await api.call("POST", path, json=body, headers=scope)
    assert reply.json()["error"]["code"] == "mismatched_organization"


async def test_errors_carry_the_headers_too(api: Api) -> None:
    reply = await api.call("GET", "/v1/fine_tuning/jobs/ftjob-nowhere")
    assert reply.status_code == 404
    assert reply.headers["x-ratelimit-limit-requests"] == "5"
    assert reply.headers["openai-organization"] == "first"


@cases(
    ("header", "code"),
    [
        ({"OpenAI-Organization": "second"}, "mismatched_organization"),
        ({"OpenAI-Project": "proj_other"}, "mismatched_project"),
    ],
)
async def test_headers_that_name_another_scope_are_refused(
    api: Api, header: dict[str, str], code: str
) -> None:
    reply = await api.call("GET", MODELS, headers=header)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, code)


async def test_headers_that_name_the_keys_own_scope_pass(api: Api) -> None:
    assert (await api.call("GET", MODELS, headers={"OpenAI-Organization": "first"})).is_success


async def test_without_redis_every_request_passes(database: Database) -> None:
    gone = {"redis_url": "redis://127.0.0.1:9/0", "requests_per_minute": 1}
    settings = database.settings.model_copy(update=gone)
    async with running(replace(database, settings=settings)) as api:
        replies = [await api.call("GET", MODELS) for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200] * 3
    assert "x-ratelimit-limit-requests" not in replies[0].headers


@pytest.mark.parametrize("kind", ["redis", "memory"])
async def test_two_processes_share_a_window(
    kind: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    limits: list[RateLimits]
    if kind == "redis":
        url = database.settings.redis_url
        limits = [RedisRateLimits(url, requests_per_minute=30) for _ in range(2)]
    else:
        limits = [InMemoryRateLimits(30)] * 2
    taken = []
    for _ in range(10):
        taken += await asyncio.gather(*(limits[n % 2].take("proj") for n in range(10)))
    assert sum(quota is not None and quota.allowed for quota in taken) == 30
    assert {quota.remaining for quota in taken if quota is not None} == set(range(30))
    other = await limits[0].take("another")
    assert other is not None
    assert other.remaining == 29
    for limit in limits:
        await limit.aclose()
