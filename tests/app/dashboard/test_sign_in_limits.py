"""Sign-ins that are too many: attempts by address and by key, and sessions of one key."""

import asyncio
import itertools

import httpx
import pytest

from app.accounts.accounts import MAX_SESSIONS
from app.pages.visitors import SIGN_INS_PER_MINUTE
from tests.support.api.application import Api
from tests.support.api.organization import execute as query
from tests.support.dashboard.visits import ORIGIN, Visit, visiting
from tests.support.stack import Database
from tests.support.web.one_window import hold_window

COOKIE = "agent_rft_session"


async def sign_in_from(api: Api, address: str, key: str) -> int:
    """Returns the status of one attempt of a client at an address."""
    transport = api.http._transport
    assert isinstance(transport, httpx.ASGITransport)
    there = httpx.ASGITransport(app=transport.app, client=(address, 1))
    async with httpx.AsyncClient(transport=there, base_url=ORIGIN) as http:
        return (await Visit(http).sign_in(key)).status_code


async def test_an_address_has_so_many_attempts_a_minute_and_others_have_theirs(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    made = [await sign_in_from(api, "192.0.2.1", f"wrong {n}") for n in range(SIGN_INS_PER_MINUTE)]
    assert set(made) == {401}
    assert await sign_in_from(api, "192.0.2.1", api.key) == 429
    assert await sign_in_from(api, "192.0.2.2", api.key) == 303
    assert await sign_in_from(api, "::ffff:192.0.2.1", api.key) == 429  # the same client
    called = await api.call("GET", "/v1/models")
    assert called.status_code == 200


async def test_a_form_of_another_site_uses_up_no_attempt(
    api: Api, guest: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    for _ in range(SIGN_INS_PER_MINUTE + 1):
        form = {"api_key": "wrong"}
        there = {"origin": "https://elsewhere.example"}
        assert (await guest.http.post("/sign-in", data=form, headers=there)).status_code == 403
    assert (await guest.sign_in(api.key)).status_code == 303


async def test_the_addresses_of_one_network_are_one_client(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    for number in range(SIGN_INS_PER_MINUTE):
        assert await sign_in_from(api, f"2001:db8::{number:x}", f"wrong {number}") == 401
    assert await sign_in_from(api, "2001:db8::ffff", api.key) == 429
    assert await sign_in_from(api, "2001:db8:0:1::1", api.key) == 303


async def test_a_key_has_so_many_attempts_a_minute_from_everywhere(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    addresses = (f"192.0.2.{number}" for number in itertools.count(1))
    made = [await sign_in_from(api, next(addresses), api.key) for _ in range(SIGN_INS_PER_MINUTE)]
    assert set(made) == {303}
    assert await sign_in_from(api, next(addresses), api.key) == 429
    assert await sign_in_from(api, next(addresses), api.other_key) == 303


async def test_a_refusal_names_when_to_try_again(
    api: Api, guest: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_window(monkeypatch)
    for _ in range(SIGN_INS_PER_MINUTE):
        await guest.sign_in("wrong")
    refused = await guest.sign_in(api.key)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert "sign-ins came from this address" in refused.text


async def test_the_oldest_session_of_a_key_ends_when_there_are_too_many(
    api: Api, guest: Visit, visit: Visit, database: Database
) -> None:
    assert (await guest.sign_in(api.other_key)).status_code == 303
    for _ in range(MAX_SESSIONS - 1):
        async with visiting(api.http) as more:
            await more.sign_in(api.key)
    assert (await visit.get("/")).status_code == 200
    async with visiting(api.http) as newest:
        await newest.sign_in(api.key)
        assert (await visit.get("/")).status_code == 303  # it was the oldest
        assert (await newest.get("/")).status_code == 200
    assert (await guest.get("/")).status_code == 200  # of another key
    count = "SELECT count(*) FROM dashboard_sessions GROUP BY key_id ORDER BY 1"
    assert query(database, count) == [(1,), (MAX_SESSIONS,)]


async def test_sessions_that_begin_at_once_are_bounded_too(api: Api, database: Database) -> None:
    async def sign_in() -> None:
        async with visiting(api.http) as visit:
            assert (await visit.sign_in(api.key)).status_code == 303

    await asyncio.gather(*(sign_in() for _ in range(MAX_SESSIONS + 10)))
    assert query(database, "SELECT count(*) FROM dashboard_sessions") == [(MAX_SESSIONS,)]


async def test_a_new_session_ends_the_one_that_the_browser_had(api: Api, visit: Visit) -> None:
    """So a session that somebody else put into the browser does not live on."""
    former = visit.http.cookies[COOKIE]
    assert (await visit.sign_in(api.key)).status_code == 303
    assert visit.http.cookies[COOKIE] != former
    async with visiting(api.http) as thief:
        thief.http.cookies.set(COOKIE, former)
        assert (await thief.get("/")).status_code == 303
    assert (await visit.get("/")).status_code == 200
