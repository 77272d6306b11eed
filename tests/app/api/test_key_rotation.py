"""The secret key is replaced under traffic: both keys are valid, then the new one alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from app.database import Database as Store
from app.kit.sealing import build_secret_box
from app.kit.settings_sources import PREFIX
from app.settings import EgressSettings, Settings, to_environment
from app.wiring import provisioning_service, rewrapping_service
from tests.support.cli.command_line import agent_rft
from tests.support.stack import Database
from tests.support.web.application import application

ADDRESS = "127.0.0.1:9"
OLD, NEW, FOREIGN = ("k" * 40, "n" * 40, "f" * 40)
CANARY = "canary-header-value"


def settings_with(database: Database, key: str, *older: str) -> Settings:
    return database.settings.model_copy(
        update={
            "secret_key": SecretStr(key),
            "older_secret_keys": tuple(map(SecretStr, older)),
            "egress": EgressSettings(allow_endpoints=(ADDRESS,), allow_plain_http=True),
        }
    )


@asynccontextmanager
async def service(settings: Settings, api_key: str) -> AsyncIterator[httpx.AsyncClient]:
    app = application(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {api_key}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as http,
    ):
        yield http


async def keys(settings: Settings, slug: str) -> str:
    store = Store(settings.database_url)
    provisioning = provisioning_service(settings, store)
    made = await provisioning.provision(slug=slug, title=slug, project_name="p")
    await store.dispose()
    return made.api_key


def as_owner(settings: Settings) -> dict[str, str]:
    """The variables of an operator who replaces the key."""
    variables = to_environment(settings)
    names = ("SECRET_KEY", "OLDER_SECRET_KEYS", "OWNER_DATABASE_URL")
    return {f"{PREFIX}{name}": variables[f"{PREFIX}{name}"] for name in names}


async def rewrapped(settings: Settings, *, batch: int = 2) -> dict[str, Any]:
    assert settings.owner_database_url is not None
    store = Store(settings.owner_database_url, pool_size=1)
    try:
        return await rewrapping_service(settings, store).run(batch=batch)
    finally:
        await store.dispose()


TOOL = {"name": "search", "server_url": f"http://{ADDRESS}", "headers": {"X-Key": CANARY}}
GRADER = {"type": "endpoint", "name": "g", "url": f"http://{ADDRESS}", "headers": {"X-Key": CANARY}}


async def fill(http: httpx.AsyncClient) -> dict[str, str]:
    """One sealed row of each kind; returns what reads them."""
    row = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    files = []
    for _ in range(2):
        stored = await http.post(
            "/v1/files", files={"file": ("rows.jsonl", row)}, data={"purpose": "fine-tune"}
        )
        files.append(stored.json()["id"])
    method = {"type": "reinforcement", "reinforcement": {"tools": [TOOL], "grader": GRADER}}
    body = {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": method,
    }
    job = await http.post("/v1/fine_tuning/jobs", json=body, headers={"Idempotency-Key": "once"})
    assert job.status_code == 200, job.text
    tools = [
        (await http.post("/v1/tools", json={**TOOL, "name": f"tool_{number}"})).json()["id"]
        for number in range(5)
    ]
    hook = await http.post(
        "/v1/webhook_endpoints",
        json={"name": "ci", "url": f"http://{ADDRESS}", "event_types": ["eval.run.succeeded"]},
    )
    assert hook.status_code == 200, hook.text
    await http.post("/v1/students", json={"name": "clerk", "base_model": "tiny-agent"})
    rows = {"training_file": files[0], "validation_file": files[1]}
    graded = {"type": "exact_match", "reference": "a"}
    session = {"student": "clerk", "grader": graded, **rows}
    coached = await http.post("/v1/coach_sessions", json=session)
    assert coached.status_code == 201, coached.text
    return {"body": json.dumps(body), "job": job.json()["id"], "tool": tools[0]}


async def check(http: httpx.AsyncClient, made: dict[str, str]) -> None:
    """Every sealed row is read by the part of the service that needs its secret."""
    again = await http.post(
        "/v1/fine_tuning/jobs",
        content=made["body"],
        headers={"Idempotency-Key": "once", "Content-Type": "application/json"},
    )
    assert (again.status_code, again.json()["id"]) == (200, made["job"]), again.text
    test = await http.post(f"/v1/tools/{made['tool']}/test", json={"requests": 1})
    assert test.status_code == 200, test.text


def seal_session(database: Database, settings: Settings) -> None:
    """Seals a secret into the session of the Coach: a header of a grader that no server has."""
    box = build_secret_box(settings)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        [(project, session)] = connection.execute("SELECT project_id, id FROM coach_sessions")
        sealed = box.seal(
            {"/reinforcement/grader/headers": CANARY}, project_id=project, row_id=session
        )
        connection.execute("UPDATE coach_sessions SET secrets = %s", [sealed])


def blobs(database: Database, table: str, column: str) -> list[bytes]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        rows = connection.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")
        return [bytes(row[0]) for row in rows]


async def test_the_key_is_replaced_while_requests_come(database: Database) -> None:
    old, both, new = (
        settings_with(database, OLD),
        settings_with(database, NEW, OLD),
        settings_with(database, NEW),
    )
    key, unused = await keys(old, "first"), await keys(old, "second")
    async with service(old, key) as http:
        made = await fill(http)
        await check(http, made)
    seal_session(database, old)

    async with service(both, key) as http:
        await check(http, made)

        async def traffic() -> int:
            for number in range(30):
                changed = await http.post(
                    f"/v1/tools/{made['tool']}", json={"description": f"change {number}"}
                )
                assert changed.status_code == 200, changed.text
            return 30

        report, changes = await asyncio.gather(rewrapped(both), traffic())
        assert changes == 30
        sealed = ("jobs", "registered_versions", "webhook_endpoints", "stored_responses")
        for noun in (*sealed, "coach_sessions"):
            assert report[noun]["unreadable"] == 0, noun
            assert report[noun]["current"] >= report[noun]["rewrapped"] >= 1, noun
        done = await asyncio.to_thread(agent_rft, "keys", "rewrap", **as_owner(both))
        assert done.returncode == 0, done.stderr
        again = json.loads(done.stdout)
        assert {noun: table.get("rewrapped") for noun, table in again.items()} == {
            "jobs": 0,
            "evals": 0,
            "coach_sessions": 0,
            "registered_versions": 0,
            "webhook_endpoints": 0,
            "stored_responses": 0,
            "api_keys": None,
        }
        await check(http, made)
    # The first key was used; the second organization's project and admin keys, and the first's
    # admin key, were not.
    assert again["api_keys"] == {"current": 1, "older": 3}

    async with service(new, key) as http:
        await check(http, made)
    async with service(new, unused) as http:
        assert (await http.get("/v1/files")).status_code == 401
    async with service(settings_with(database, OLD), key) as http:
        assert (await http.get("/v1/files")).status_code == 401
    box = build_secret_box(new)
    for table, column in (("fine_tuning_jobs", "secrets"), ("registered_versions", "secrets")):
        assert all(blob.startswith(box.head) for blob in blobs(database, table, column))


async def test_a_blob_under_an_unknown_key_is_counted_and_stays(database: Database) -> None:
    foreign, new = settings_with(database, FOREIGN), settings_with(database, NEW, OLD)
    key = await keys(foreign, "first")
    async with service(foreign, key) as http:
        await fill(http)
    before = blobs(database, "registered_versions", "secrets")
    done = await asyncio.to_thread(agent_rft, "keys", "rewrap", **as_owner(new))
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["registered_versions"] == {"rewrapped": 0, "current": 0, "unreadable": 5}
    assert report["jobs"] == {"rewrapped": 0, "current": 0, "unreadable": 1}
    assert blobs(database, "registered_versions", "secrets") == before


async def test_the_setting_gives_no_row_to_the_roles_of_the_service(database: Database) -> None:
    old = settings_with(database, OLD)
    async with service(old, await keys(old, "first")) as http:
        await fill(http)
    for url in (database.app_url, database.worker_url):
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("SELECT set_config('app.rewrap', 'on', true)")
            for table in ("fine_tuning_jobs", "evals"):
                counted = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
                assert counted == (0,), table


def test_a_child_process_gets_the_older_keys(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_with(database, NEW, OLD, FOREIGN)
    for name, value in to_environment(settings).items():
        monkeypatch.setenv(name, value)
    read = Settings()
    assert read.secret_keys == (NEW, OLD, FOREIGN)
    assert OLD not in repr(read)
