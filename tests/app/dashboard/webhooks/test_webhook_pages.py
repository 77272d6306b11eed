"""Pages of webhook endpoints: created, tested, rotated, redelivered and deleted by their forms."""

import re
from collections.abc import AsyncIterator

import pytest

from tests.support.api.application import Api, running
from tests.support.dashboard.scenes import HOSTILE, create_job
from tests.support.dashboard.scenes import execute as change
from tests.support.dashboard.visits import Visit, rows_of, texts_of
from tests.support.endpoints import EndpointServer, Reply, endpoint
from tests.support.stack import Database
from tests.support.webhooks.page_deliveries import deliver

CANCELLED = "fine_tuning.job.cancelled"


@pytest.fixture
async def receiver() -> AsyncIterator[EndpointServer]:
    async with endpoint(lambda _: Reply(204, body=b"")) as server:
        yield server


@pytest.fixture
async def api(database: Database, receiver: EndpointServer) -> AsyncIterator[Api]:
    async with running(database, receiver.host_port, "127.0.0.1:9") as api:
        yield api


async def made(visit: Visit, receiver: EndpointServer, name: str = "ci") -> tuple[str, str]:
    """Creates an endpoint by the form. Returns the path of its page, and its secret."""
    sent = {
        "form_token": await visit.form_token("/webhooks"),
        "name": name,
        "url": receiver.url("/hook?token=canary-url"),
        f"event {CANCELLED}": "yes",
    }
    reply = await visit.post("/webhooks", sent)
    assert reply.status_code == 200, reply.text
    assert reply.headers["cache-control"] == "no-store"
    return page_of(reply.text), texts_of(reply.text, "code")[0]


def page_of(html: str) -> str:
    return html.rpartition('href="/webhooks/')[2].partition('"')[0].join(["/webhooks/", ""])


async def press(visit: Visit, page: str, action: str, **fields: str) -> str:
    token = await visit.form_token(page)
    reply = await visit.post(f"{page}/{action}", {"form_token": token, **fields})
    assert reply.status_code in (200, 303), reply.text
    return reply.text if reply.status_code == 200 else reply.headers["location"]


async def test_an_endpoint_is_made_and_its_secret_shown_once(
    visit: Visit, receiver: EndpointServer, database: Database
) -> None:
    assert "No endpoint yet" in (await visit.get("/webhooks")).text
    page, secret = await made(visit, receiver, HOSTILE)
    assert secret.startswith("whsec_")
    [listed] = rows_of((await visit.get("/webhooks")).text, "Endpoints")[1:]
    assert listed[2:4] == [CANCELLED, "in use"]
    for path in ("/webhooks", page):
        shown = (await visit.get(path)).text
        assert secret not in shown
        assert "canary-url" not in shown
        assert "<script>alert" not in shown
    tested = await press(visit, page, "test", event_type=CANCELLED)
    assert "The endpoint answered 204" in tested
    assert receiver.received[-1].headers["webhook-id"].startswith("evt_")
    rotated = await press(visit, page, "rotate", keep_old="yes")
    [newer, *_] = texts_of(rotated, "code")
    assert newer.startswith("whsec_")
    assert newer != secret
    change(database, "UPDATE webhook_endpoints SET disabled_at = now()")
    assert "nothing is sent to it" in (await visit.get(page)).text
    assert await press(visit, page, "enable") == page
    assert "nothing is sent to it" not in (await visit.get(page)).text
    assert await press(visit, page, "delete") == "/webhooks"
    assert (await visit.get(page)).status_code == 404


async def test_a_delivery_is_sent_again(
    api: Api, visit: Visit, receiver: EndpointServer, database: Database
) -> None:
    page, _ = await made(visit, receiver)
    job = await create_job(api)
    await visit.press(job, "cancel")
    await deliver(database, receiver)
    [first] = receiver.received
    [listed] = rows_of((await visit.get(page)).text, "Deliveries")[1:]
    assert listed[0] == f"{CANCELLED} {first.headers['webhook-id']}"
    assert listed[1:4] == ["delivered", "1", "204"]
    [again] = [
        one for one in (await visit.get(page)).text.split('action="') if "/redeliver" in one[:200]
    ]
    action = again.partition('"')[0].removeprefix(f"{page}/")
    assert await press(visit, page, action) == page
    [waiting] = rows_of((await visit.get(page)).text, "Deliveries")[1:]
    assert (waiting[1:3], "Send again" in waiting) == (["pending", "0"], False)
    token = await visit.form_token(page)
    twice = await visit.post(f"{page}/{action}", {"form_token": token})
    assert twice.status_code == 400
    assert re.search(r"has not ended: its next attempt is due at 20\d\d-\d\d-\d\dT", twice.text)
    await deliver(database, receiver)
    first, second = receiver.received
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert second.body == first.body
    change(database, "UPDATE webhook_endpoints SET disabled_at = now()")
    gone = await visit.post(f"{page}/{action}", {"form_token": token})
    assert "answered 410 Gone" in gone.text


async def test_forms_are_read_before_anything_is_made(
    visit: Visit, receiver: EndpointServer
) -> None:
    token = await visit.form_token("/webhooks")
    good = {"form_token": token, "name": "ci", "url": receiver.url("/"), f"event {CANCELLED}": "y"}
    for wrong, status in (
        ({"form_token": "0"}, 403),
        ({"name": " "}, 400),
        ({"url": "https://10.0.0.1/"}, 400),
        ({"url": "no url"}, 400),
        ({f"event {CANCELLED}": ""}, 400),
    ):
        assert (await visit.post("/webhooks", {**good, **wrong})).status_code == status, wrong
    elsewhere = await visit.post("/webhooks", good, {"origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    assert "No endpoint yet" in (await visit.get("/webhooks")).text
