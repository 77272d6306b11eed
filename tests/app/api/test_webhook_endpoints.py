"""Webhook endpoints over HTTP: life cycle, limits and access."""

import asyncio
import base64
from typing import Any

import psycopg
import pytest
from openai import OpenAI

from app.webhooks.events import MAX_ENDPOINTS
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.webhook_endpoints import DONE, NEW, PATH, execute, made_endpoint
from tests.support.cases import cases
from tests.support.endpoints import Reply, endpoint
from tests.support.stack import Database


async def test_a_new_endpoint_shows_its_secret_this_once(api: Api) -> None:
    made = await made_endpoint(api, event_types=[DONE, DONE])
    secret = made.pop("signing_secret")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 33
    assert made == {
        **NEW,
        "id": made["id"],
        "object": "webhook_endpoint",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "signing_secret_hint": f"whsec_***{secret[-4:]}",
        "disabled_at": None,
        "last_failed_at": None,
    }
    assert (await api.call("GET", f"{PATH}/{made['id']}")).json() == made
    listed = (await api.call("GET", PATH)).json()
    assert listed["data"] == [made]
    assert secret not in str(listed)


async def test_the_event_types_are_those_that_are_sent(api: Api) -> None:
    reply = await api.call("GET", "/v1/webhook_event_types")
    assert reply.json() == {
        "object": "list",
        "data": [
            "fine_tuning.job.succeeded",
            "fine_tuning.job.failed",
            "fine_tuning.job.cancelled",
            "eval.run.succeeded",
            "eval.run.failed",
            "eval.run.canceled",
        ],
    }
    assert (await api.http.get("/v1/webhook_event_types")).status_code == 401


@cases(
    ("changes", "param"),
    [
        ({"event_types": []}, "event_types"),
        ({"event_types": ["batch.completed"]}, "event_types[0]"),
        ({"name": "n" * 257}, "name"),
        ({"name": None}, "name"),
        ({"url": "http://127.0.0.1:10/not-allowed"}, "url"),
        ({"url": "https://169.254.169.254/latest"}, "url"),
        ({"url": "https://user:pass@example.com/"}, "url"),
        ({"url": f"{ENDPOINT}/hook?token=[redacted]"}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
    ],
)
async def test_what_cannot_be_is_refused_by_name(
    api: Api, changes: dict[str, Any], param: str
) -> None:
    reply = await api.call("POST", PATH, json={**NEW, **changes})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    made = await made_endpoint(api)
    reply = await api.call("POST", f"{PATH}/{made['id']}", json=changes)
    if changes == {"name": None}:
        assert (reply.status_code, reply.json()["name"]) == (200, "ci")
    else:
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


async def test_an_update_changes_what_it_names(api: Api, database: Database) -> None:
    made = await made_endpoint(api)
    url_path = f"{PATH}/{made['id']}"
    execute(database, "UPDATE webhook_endpoints SET updated_at = now() - interval '1 hour'")
    same = (await api.call("POST", url_path, json={"name": "ci"})).json()
    assert same["updated_at"] < made["updated_at"]
    changed = (await api.call("POST", url_path, json={"name": "other"})).json()
    assert changed["updated_at"] >= made["updated_at"]
    assert (changed["name"], changed["url"]) == ("other", NEW["url"])
    types = ["eval.run.failed", DONE]
    changed = (await api.call("POST", url_path, json={"event_types": types})).json()
    assert changed["event_types"] == types


async def test_a_deleted_endpoint_is_gone(api: Api) -> None:
    made = await made_endpoint(api)
    url_path = f"{PATH}/{made['id']}"
    reply = await api.call("DELETE", url_path)
    assert reply.json() == {"id": made["id"], "object": "webhook_endpoint.deleted", "deleted": True}
    for method, path in (
        ("GET", url_path),
        ("DELETE", url_path),
        ("GET", f"{url_path}/deliveries"),
    ):
        assert (await api.call(method, path)).status_code == 404


async def test_pages_follow_one_another_newest_first(api: Api) -> None:
    ids = [(await made_endpoint(api, name=str(number)))["id"] for number in range(5)]
    seen, after = [], None
    while True:
        params = {"limit": 2, **({"after": after} if after else {})}
        page = (await api.call("GET", PATH, params=params)).json()
        seen += [row["id"] for row in page["data"]]
        after = page["last_id"]
        if not page["has_more"]:
            break
    assert seen == ids[::-1]
    reply = await api.call("GET", PATH, params={"after": "whe_none"})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "after")


async def test_a_project_has_a_bounded_number_of_them(api: Api) -> None:
    for _ in range(MAX_ENDPOINTS - 2):
        await made_endpoint(api)
    replies = await asyncio.gather(*(api.call("POST", PATH, json=NEW) for _ in range(6)))
    assert sorted(reply.status_code for reply in replies) == [200, 200, 400, 400, 400, 400]
    code = next(r.json()["error"]["code"] for r in replies if r.status_code == 400)
    assert code == "webhook_endpoint_limit_reached"
    reply = await api.call("POST", PATH, json=NEW, key=api.other_key)
    assert reply.status_code == 200


async def test_a_foreign_endpoint_is_as_one_that_never_was(api: Api) -> None:
    made = await made_endpoint(api)
    calls: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("POST", "", {"name": "mine"}),
        ("POST", "", {"url": f"{ENDPOINT}/mine"}),
        ("DELETE", "", None),
        ("POST", "/rotate_secret", {}),
        ("POST", "/test", {"event_type": DONE}),
        ("GET", "/deliveries", None),
    ]
    for method, rest, body in calls:
        answers = [
            await api.call(method, f"{PATH}/{endpoint_id}{rest}", json=body, key=api.other_key)
            for endpoint_id in (made["id"], "whe_never")
        ]
        assert [reply.status_code for reply in answers] == [404, 404], (method, rest)
        texts = [reply.text.replace(made["id"], "*").replace("whe_never", "*") for reply in answers]
        assert texts[0] == texts[1]
    assert (await api.call("GET", PATH, key=api.other_key)).json()["data"] == []
    assert (await api.call("GET", f"{PATH}/{made['id']}")).json()["name"] == "ci"


async def test_a_test_is_sent_at_once_and_signed(database: Database) -> None:
    statuses = iter([200, 302, 500])
    async with (
        endpoint(lambda _: Reply(next(statuses))) as server,
        running(database, server.host_port) as api,
    ):
        made = await made_endpoint(api, url=server.url("/hook"))
        client = OpenAI(api_key="k", webhook_secret=made["signing_secret"])
        for status, event_type in ((200, DONE), (302, "eval.run.canceled"), (500, DONE)):
            reply = await api.call(
                "POST", f"{PATH}/{made['id']}/test", json={"event_type": event_type}
            )
            assert reply.json() == {
                "object": "webhook_endpoint.test",
                "webhook_endpoint_id": made["id"],
                "event_type": event_type,
                "success": True,
                "status_code": status,
            }
            received = server.received[-1]
            assert received.headers["user-agent"] == "agent-rft/1 (webhooks)"
            event = client.webhooks.unwrap(received.body, received.headers)
            assert (event.type, event.id) == (event_type, received.headers["webhook-id"])
        assert len(server.received) == 3
        deliveries = await api.call("GET", f"{PATH}/{made['id']}/deliveries")
        assert deliveries.json()["data"] == []


async def test_a_test_without_an_answer_reports_it(api: Api) -> None:
    made = await made_endpoint(api)
    reply = await api.call("POST", f"{PATH}/{made['id']}/test", json={"event_type": DONE})
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "webhook_endpoint_unreachable"
    reply = await api.call("POST", f"{PATH}/{made['id']}/test", json={"event_type": "x"})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "event_type")


async def test_no_secret_lies_in_a_row_or_a_log(
    api: Api, database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    made = await made_endpoint(api)
    url_path = f"{PATH}/{made['id']}"
    fresh = (await api.call("POST", f"{url_path}/rotate_secret", json={})).json()["signing_secret"]
    await api.call("POST", f"{url_path}/test", json={"event_type": DONE})
    shown = "".join([(await api.call("GET", path)).text for path in (url_path, PATH)])
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT t::text FROM webhook_endpoints t").fetchall()
    logs = capfd.readouterr()
    for secret in (made["signing_secret"], fresh):
        bare = secret.removeprefix("whsec_")
        for text in (shown, str(rows), logs.out, logs.err):
            assert bare not in text
            assert bare.encode().hex() not in text
            assert base64.b64decode(bare).hex() not in text
