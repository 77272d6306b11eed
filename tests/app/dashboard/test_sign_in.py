"""Signing in and out: the session behind the cookie, its end, and links that work once."""

import asyncio
from http.cookies import SimpleCookie

import httpx
import pytest

from app.database import Database as Store
from app.maintenance import maintenance
from app.settings import to_environment
from app.wiring import dashboard_session_service
from tests.support.api.application import Api
from tests.support.api.canary import stored
from tests.support.api.organization import PROJECTS, Admin
from tests.support.api.organization import execute as query
from tests.support.cli.command_line import agent_rft
from tests.support.dashboard.scenes import create_job, execute
from tests.support.dashboard.visits import Visit, token_of, visiting
from tests.support.stack import Database

COOKIE = "agent_rft_session"


def cookie_of(reply: httpx.Response) -> SimpleCookie:
    return SimpleCookie(reply.headers["set-cookie"])


async def make_link(database: Database, key: str) -> str:
    store = Store(database.settings.database_url, pool_size=1)
    link = await dashboard_session_service(database.settings, store).make_link(key)
    await store.dispose()
    return link


async def leads_to_sign_in(visit: Visit, path: str = "/") -> bool:
    reply = await visit.get(path)
    return reply.status_code == 303 and reply.headers["location"].startswith("/sign-in")


async def test_a_page_without_a_session_leads_to_sign_in_and_back(api: Api, guest: Visit) -> None:
    job = await create_job(api)
    asked = f"/jobs/{job}?seen=a"
    reply = await guest.get(asked)
    assert reply.status_code == 303
    form = await guest.get(reply.headers["location"])
    assert form.status_code == 200
    assert f'name="next" value="{asked}"' in form.text
    back = await guest.sign_in(api.key, to=asked)
    assert (back.status_code, back.headers["location"]) == (303, asked)
    assert (await guest.get(asked)).status_code == 200


async def test_the_cookie_is_for_this_site_alone_and_its_value_is_not_stored(
    api: Api, guest: Visit, database: Database
) -> None:
    cookie = cookie_of(await guest.sign_in(api.key))[COOKIE]
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "strict", "/")
    assert not cookie["secure"]  # a browser would keep no such cookie over plain HTTP
    assert not cookie["domain"]
    assert int(cookie["max-age"]) == 12 * 3600
    assert len(cookie.value) >= 43  # 256 bits
    assert cookie.value not in stored(database)
    assert (await guest.get("/")).headers["cache-control"] == "no-store"
    async with visiting(api.http, base_url="https://test") as secure:
        reply = await secure.post("/sign-in", {"api_key": api.key}, {"origin": "https://test"})
        assert cookie_of(reply)[COOKIE]["secure"]


async def test_a_wrong_key_begins_no_session(api: Api, guest: Visit) -> None:
    for key in ("", "nonsense", "\u00e9" * 70, api.key[:-1] + "x", api.admin_key[:-1] + "x"):
        reply = await guest.sign_in(key)
        assert (reply.status_code, "set-cookie" in reply.headers) == (401, False), key
        assert 'role="alert"' in reply.text
    assert await leads_to_sign_in(guest)


async def test_a_session_ends_with_its_key(api: Api, guest: Visit) -> None:
    admin = Admin(api, api.admin_key)
    project = await admin.project("sibling")
    account = await admin.account(project)
    key = account["api_key"]
    assert (await guest.sign_in(key["value"])).status_code == 303
    assert (await guest.get("/")).status_code == 200
    await admin("DELETE", f"{PROJECTS}/{project}/api_keys/{key['id']}")
    assert await leads_to_sign_in(guest)
    assert (await guest.part("/")).status_code == 401


async def test_a_session_ends_with_its_project(api: Api, guest: Visit) -> None:
    admin = Admin(api, api.admin_key)
    project = await admin.project("sibling")
    assert (await guest.sign_in((await admin.account(project))["api_key"]["value"])).is_redirect
    await admin("POST", f"{PROJECTS}/{project}/archive")
    assert await leads_to_sign_in(guest)


async def test_an_expired_session_shows_nothing_and_is_removed(
    visit: Visit, database: Database
) -> None:
    execute(database, "UPDATE dashboard_sessions SET expires_at = now() - interval '1 second'")
    assert await leads_to_sign_in(visit)
    worker = Store(database.worker_url, pool_size=1)
    async with maintenance(worker) as unit:
        assert await unit.expiry.remove_dashboard_sessions(10) == 1
        assert await unit.expiry.remove_dashboard_sessions(10) == 0
    await worker.dispose()


async def test_sign_out_ends_the_session_for_good(api: Api, visit: Visit) -> None:
    session = visit.http.cookies[COOKIE]
    reply = await visit.post("/sign-out", {"form_token": await visit.form_token()})
    assert (reply.status_code, reply.headers["location"]) == (303, "/sign-in")
    assert cookie_of(reply)[COOKIE].value == ""
    async with visiting(api.http) as thief:
        thief.http.cookies.set(COOKIE, session)
        assert await leads_to_sign_in(thief)


async def test_a_link_signs_in_once(api: Api, guest: Visit, database: Database) -> None:
    link = await make_link(database, api.key)
    assert link not in stored(database)
    replies = await asyncio.gather(
        *(guest.http.post("/sign-in", content=f"link={link}", headers=_own()) for _ in range(4))
    )
    assert sorted(reply.status_code for reply in replies) == [303, 401, 401, 401]
    assert (await guest.get("/")).status_code == 200
    [[kind]] = query(database, "SELECT kind FROM dashboard_sessions")
    assert kind == "session"


def _own() -> dict[str, str]:
    return {"origin": "http://test", "content-type": "application/x-www-form-urlencoded"}


async def test_a_link_is_no_session_and_a_session_no_link(
    api: Api, guest: Visit, database: Database
) -> None:
    guest.http.cookies.set(COOKIE, await make_link(database, api.key))
    assert await leads_to_sign_in(guest)
    async with visiting(api.http) as other:
        await other.sign_in(api.key)
        session = other.http.cookies[COOKIE]
        reply = await other.post("/sign-in", {"link": session})
        assert reply.status_code == 401
        assert (await other.get("/")).status_code == 200


async def test_an_expired_link_begins_nothing(api: Api, guest: Visit, database: Database) -> None:
    link = await make_link(database, api.key)
    execute(database, "UPDATE dashboard_sessions SET expires_at = now() - interval '1 second'")
    reply = await guest.post("/sign-in", {"link": link})
    assert reply.status_code == 401
    assert "expired" in reply.text


def test_the_command_makes_a_link_from_a_key(database: Database, provisioned_key: str) -> None:
    command, environment = ("keys", "sign-in-link"), to_environment(database.settings)
    made = agent_rft(*command, stdin=provisioned_key, **environment)
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.strip()) >= 43
    refused = agent_rft(*command, stdin="nonsense", **environment)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Incorrect API key" in refused.stderr


@pytest.fixture
async def provisioned_key(api: Api) -> str:
    return api.key


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/\r\nset-cookie: a=b",
        "jobs",
    ],
)
async def test_sign_in_leads_to_no_other_site(api: Api, guest: Visit, target: str) -> None:
    reply = await guest.sign_in(api.key, to=target)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site", "origin": "http://test"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_form_of_another_site_is_refused(
    api: Api, visit: Visit, headers: dict[str, str]
) -> None:
    job = await create_job(api)
    fields = {"form_token": await visit.form_token(), "api_key": api.key}
    for path in ("/sign-in", "/sign-out", f"/jobs/{job}/cancel", f"/jobs/{job}/pause"):
        reply = await visit.post(path, fields, headers)
        assert (reply.status_code, "set-cookie" in reply.headers) == (403, False), path
    shown = await api.call("GET", f"/v1/fine_tuning/jobs/{job}")
    assert shown.json()["status"] == "validating_files"
    assert (await visit.get("/")).status_code == 200


async def test_a_form_needs_the_token_of_its_own_session(api: Api, visit: Visit) -> None:
    job = await create_job(api)
    async with visiting(api.http) as colleague:
        await colleague.sign_in(api.key)
        theirs = await colleague.form_token()
    mine = await visit.form_token()
    assert mine != theirs
    for fields in ({}, {"form_token": ""}, {"form_token": theirs}, {"form_token": "\u00e9"}):
        reply = await visit.post(f"/jobs/{job}/cancel", fields)
        assert reply.status_code == 403, fields
    same = {"sec-fetch-site": "same-origin"}
    reply = await visit.post(f"/jobs/{job}/cancel", {"form_token": mine}, same)
    assert reply.status_code == 303
    assert token_of((await visit.get(f"/jobs/{job}")).text) == mine


async def test_forms_that_are_too_large_or_odd_are_refused(guest: Visit) -> None:
    large = await guest.post("/sign-in", {"api_key": "a" * 20_000})
    assert large.status_code == 413
    many = await guest.post("/sign-in", {f"f{n}": "" for n in range(50)})
    assert many.status_code == 400
    nul = await guest.post("/sign-in", {"api_key": "a\0b"})
    assert nul.status_code == 400
    multipart = await guest.http.post(
        "/sign-in", files={"api_key": ("f", b"x")}, headers={"origin": "http://test"}
    )
    assert multipart.status_code == 400
    for kind in ("application/json", "multipart/form-data; boundary=b; charset=undefined"):
        headers = {"origin": "http://test", "content-type": kind}
        odd = await guest.http.post("/sign-in", content=b"{}", headers=headers)
        assert odd.status_code == 400, kind
