"""The usage of chats is written some seconds later, once, also if the answer of a write is lost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from app.accounts.usage import UsageQuery
from app.accounts.usage_service import UsageService
from app.database import Database as Store
from app.database import UnitOfWork
from app.kit.callers import Actor, Tenant, act_as, current_actor
from app.kit.errors import Unavailable
from app.models.chat_service import metered_events, with_usage
from app.models.chat_usage import ChatUsage
from app.settings import PricingSettings, RetentionSettings
from app.wiring import build_key_service, provisioning_service
from tests.support.api.organization import execute
from tests.support.cases import cases
from tests.support.patience import until
from tests.support.stack import Database
from workers.maintenance.expiry import retire

REPLY = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}
SUMS = (
    "SELECT model, count(*), sum(requests), sum(input_tokens), sum(output_tokens),"
    " sum(cached_tokens), sum(cost), min(currency) FROM usage_records GROUP BY model ORDER BY model"
)


class Losing:
    """A database that loses the next transactions: before their commit, or the answer to it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.unavailable = self.unheard = 0

    @asynccontextmanager
    async def tenant(self, tenant: Tenant) -> AsyncIterator[UnitOfWork]:
        if self.unavailable:
            self.unavailable -= 1
            raise Unavailable("unavailable")
        async with self.store.tenant(tenant) as unit:
            yield unit
        if self.unheard:
            self.unheard -= 1
            raise Unavailable("The connection was lost after COMMIT was sent.")


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    store = Store(database.app_url, pool_size=1)
    yield store
    await store.dispose()


@pytest.fixture
async def tenant(database: Database, store: Store) -> Tenant:
    made = await provisioning_service(database.settings, store).provision(
        slug="first", title="First", project_name="p"
    )
    principal = await build_key_service(database.settings, store).authenticate(made.api_key)
    assert isinstance(principal, Tenant)
    return principal


def usage_of(store: Any, **prices: float) -> ChatUsage:
    return ChatUsage(store, PricingSettings(**prices), flush_s=0.01)


async def test_chats_of_a_minute_are_one_record_for_each_model(
    store: Store, tenant: Tenant, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_010.0)
    usage = usage_of(store, per_million_input_tokens=100_000, per_million_output_tokens=500_000)
    for model in ("a", "a", "b"):
        usage.add(tenant, model, REPLY)
    usage.add(tenant, "b", {})
    await usage.aclose()
    assert execute(database, SUMS) == [
        ("a", 1, 2, 20, 8, 12, pytest.approx(6.0), "USD"),
        ("b", 1, 2, 10, 4, 6, pytest.approx(3.0), "USD"),
    ]
    places = "SELECT DISTINCT extract(epoch FROM used_at)::int, key_id FROM usage_records"
    assert execute(database, places) == [(1_800_000_000, tenant.key_id)]


async def test_a_write_that_is_repeated_counts_once(
    store: Store, tenant: Tenant, database: Database
) -> None:
    losing = Losing(store)
    usage = usage_of(losing)
    losing.unavailable = 1
    usage.add(tenant, "a", REPLY)
    await usage.flush()
    assert execute(database, SUMS) == []
    losing.unheard = 1
    await usage.flush()
    usage.add(tenant, "a", REPLY)
    await usage.flush()
    await usage.flush()
    await usage.aclose()
    [(_, _, requests, read, sampled, cached, cost, currency)] = execute(database, SUMS)
    assert (requests, read, sampled, cached) == (2, 20, 8, 12)
    assert (cost, currency) == (None, None)


async def test_it_is_written_without_a_further_request(
    store: Store, tenant: Tenant, database: Database
) -> None:
    def is_written(count: int) -> bool:
        return bool(sum(row[2] for row in execute(database, SUMS)) == count)

    usage = usage_of(store)
    for count in (1, 2):
        usage.add(tenant, "a", REPLY)
        await until(partial(is_written, count), what="the record of a chat")
    await usage.aclose()


async def test_a_span_counts_every_chat_of_the_minutes_that_it_touches(
    store: Store, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    minute = 1_800_000_000
    monkeypatch.setattr("time.time", lambda: minute + 20.5)
    usage = usage_of(store)
    usage.add(tenant, "a", REPLY)
    await usage.aclose()
    service = UsageService(store, tenant, PricingSettings())

    async def counted(start_s: int, end_s: int) -> list[tuple[int, int, int]]:
        query = UsageQuery("completions", start_s, end_s, width="1h")
        page = await service.page(query, page=None, limit=9)
        return [
            (one.start_s - minute, one.end_s - minute, sum(s.amounts.requests for s in one.sums))
            for one in page.buckets
        ]

    assert await counted(minute + 20, minute + 21) == [(0, 60, 1)]
    assert await counted(minute + 59, minute + 61) == [(0, 120, 1)]
    assert await counted(minute - 61, minute - 1) == [(-120, 0, 0)]
    assert await counted(minute - 61, minute) == [(-120, 0, 0)]
    assert await counted(minute + 60, minute + 61) == [(60, 120, 0)]


async def test_old_records_are_removed_where_the_operator_sets_a_retention(
    store: Store, tenant: Tenant, database: Database
) -> None:
    usage = usage_of(store)
    for model in ("old", "new"):
        usage.add(tenant, model, REPLY)
    await usage.aclose()
    execute(
        database,
        "UPDATE usage_records SET used_at = now() - interval '31 days' WHERE model = 'old'",
    )
    worker = Store(database.worker_url, pool_size=1)
    await retire(worker, RetentionSettings(usage_days=32))
    await retire(worker, RetentionSettings())
    assert [row[0] for row in execute(database, SUMS)] == ["new", "old"]
    await retire(worker, RetentionSettings(usage_days=30))
    await worker.dispose()
    assert [row[0] for row in execute(database, SUMS)] == ["new"]


@pytest.mark.parametrize("wrong", [10**9 + 1, -1, True, "7"])
async def test_a_count_that_cannot_be_true_is_not_counted(
    store: Store, tenant: Tenant, database: Database, wrong: object
) -> None:
    usage = usage_of(store)
    usage.add(tenant, "a", {**REPLY, "prompt_tokens": wrong, "prompt_tokens_details": [wrong]})
    usage.add(tenant, "a", {**REPLY, "completion_tokens": 10**9})
    await usage.aclose()
    [(_, _, *amounts)] = execute(database, SUMS)
    assert amounts == [2, 10, 10**9 + 4, 6, None, None]


async def test_records_are_written_outside_the_context_of_a_chat(
    store: Store, tenant: Tenant
) -> None:
    actors: list[Actor | None] = []

    class Watched:
        @asynccontextmanager
        async def tenant(self, tenant: Tenant) -> AsyncIterator[UnitOfWork]:
            actors.append(current_actor())
            async with store.tenant(tenant) as unit:
                yield unit

    act_as(Actor("api_key", tenant.key_id))
    usage = usage_of(Watched())
    usage.add(tenant, "a", REPLY)
    act_as(None)
    await until(lambda: bool(actors), what="the write of a chat's usage")
    await usage.aclose()
    assert set(actors) == {None}


LAST = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\n'
PIECE = b'data: {"choices": [{"delta": {"content": "\\"usage\\""}}]}\n\n'
DONE = b"data: [DONE]\n\n"


@cases("shown", [True, False])
async def test_the_last_chunk_is_shown_to_those_who_requested_it(shown: bool) -> None:
    async def events() -> AsyncIterator[bytes]:
        for event in (PIECE, PIECE, LAST, DONE):
            yield event

    noted: list[dict[str, Any]] = []
    sent = [event async for event in metered_events(events(), shown=shown, note=noted.append)]
    assert sent == [PIECE, PIECE, *([LAST] if shown else []), DONE]
    assert noted == [{"prompt_tokens": 3, "completion_tokens": 2}]


async def test_a_stream_that_comes_at_once_is_read_event_by_event() -> None:
    async def events() -> AsyncIterator[bytes]:
        yield PIECE + LAST + DONE

    noted: list[dict[str, Any]] = []
    sent = [event async for event in metered_events(events(), shown=False, note=noted.append)]
    assert sent == [PIECE + DONE]
    assert noted == [{"prompt_tokens": 3, "completion_tokens": 2}]


async def test_a_stream_that_breaks_off_counts_what_it_sent() -> None:
    async def events() -> AsyncIterator[bytes]:
        yield PIECE
        yield PIECE
        raise RuntimeError("broken")

    noted: list[dict[str, Any]] = []
    with pytest.raises(RuntimeError, match="broken"):
        async for _ in metered_events(events(), shown=False, note=noted.append):
            pass
    assert noted == [{"completion_tokens": 2}]


def test_the_usage_of_every_stream_is_requested() -> None:
    for options in (None, {}, {"include_usage": False}, {"include_usage": True}):
        body = {"stream": True, "stream_options": options}
        assert with_usage(body)["stream_options"]["include_usage"] is True
