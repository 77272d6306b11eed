"""Readiness in parts, and the minimum of free space, over HTTP."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.support.api.application import Api, running
from tests.support.stack import Database
from tests.support.web.application import application


async def test_a_service_without_workers_and_engine_is_ready_and_reports_it(api: Api) -> None:
    reply = await api.http.get("/readyz")
    body = reply.json()
    assert (reply.status_code, body["status"]) == (200, "degraded")
    states = {name: part["status"] for name, part in body["parts"].items()}
    assert states == {
        "database": "ok",
        "disk": "ok",
        "broker": "ok",
        "worker": "failing",
        "engine": "failing",
        "sandbox": "failing",
    }
    assert body["parts"]["sandbox"]["problem"] == (
        "The sandbox does not answer; graders that run code give no score."
    )
    assert body["parts"]["worker"]["problem"] == (
        "No worker answers for the queue 'runs' and 'control'; work waits."
    )


@pytest.fixture
def full(database: Database) -> Database:
    """A service whose disk has too little free space: no disk is that large."""
    settings = database.settings.model_copy(update={"min_free_bytes": 1 << 60})
    return replace(database, settings=settings)


async def test_below_the_minimum_nothing_is_stored_and_the_part_is_named(full: Database) -> None:
    async with running(full) as api:
        ready = await api.http.get("/readyz")
        assert (ready.status_code, ready.headers["retry-after"]) == (503, "2")
        error: Any = ready.json()["error"]
        assert (error["param"], error["code"]) == ("disk", "service_unavailable")
        assert error["message"].startswith("Not ready (disk). The service has less than ")
        assert ready.json()["parts"]["database"] == {"status": "ok", "problem": None}

        upload = await api.upload(b'{"messages": []}\n')
        assert (upload.status_code, upload.headers["retry-after"]) == (503, "2")
        assert upload.json()["error"]["code"] == "insufficient_storage"
        assert upload.json()["error"]["type"] == "server_error"
        listed = (await api.call("GET", "/v1/files")).json()
        assert listed["data"] == []
        assert (await api.call("GET", "/v1/models")).status_code == 200

        made = await api.call(
            "POST",
            "/v1/uploads",
            json={
                "purpose": "fine-tune",
                "filename": "rows.jsonl",
                "bytes": 10,
                "mime_type": "text/jsonl",
            },
        )
        part = await api.call(
            "POST",
            f"/v1/uploads/{made.json()['id']}/parts",
            files={"data": ("part", b"0123456789")},
        )
        assert (part.status_code, part.json()["error"]["code"]) == (503, "insufficient_storage")


async def test_a_database_that_is_unavailable_is_named(database: Database) -> None:
    unavailable = database.app_url.replace("127.0.0.1:", "127.0.0.1:1")
    app = application(database.settings.model_copy(update={"database_url": unavailable}))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as http,
    ):
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["error"]["param"]) == (503, "database")
    assert reply.json()["error"]["message"] == (
        "Not ready (database). The database does not answer."
    )
