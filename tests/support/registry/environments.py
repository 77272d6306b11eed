"""Registered environments of tests, and the reports of their tests."""

from typing import Any

from standardwebhooks import Webhook

from app.kit.fields import Json
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.endpoints import ReceivedRequest, Script, endpoint
from tests.support.stack import Database

REGISTRY = "/v1/environments"
CANARY = "canary-environment-9c"
WORLD = {"type": "http", "name": "world", "url": f"{ENDPOINT}/world", "headers": {"X-K": CANARY}}


async def registered(api: Api, **changes: Any) -> Json:
    sent = {"name": "world", "url": WORLD["url"], "headers": {"X-K": CANARY}, **changes}
    reply = await api.call("POST", REGISTRY, json=sent)
    assert reply.status_code == 200, reply.text
    made: Json = reply.json()
    return made


async def report_of(
    database: Database, script: Script, **plan: Any
) -> tuple[Json, list[ReceivedRequest]]:
    async with endpoint(script) as server, running(database, server.host_port) as api:
        made = await registered(api, url=server.url("/world"))
        reply = await api.call("POST", f"{REGISTRY}/{made['id']}/test", json=plan)
        assert reply.status_code == 200, reply.text
        assert CANARY not in reply.text
        secret = (await api.call("GET", "/v1/signing_secret")).json()["secret"]
    for received in server.received:
        Webhook(secret).verify(received.body, received.headers)
        assert received.headers["x-k"] == CANARY
    report: Json = reply.json()
    assert report["environment_id"] == made["id"]
    names = ["reset", "step", "idempotency", "close", "signature"]
    assert [check["name"] for check in report["checks"]] == names
    return report, server.received


def statuses(report: Json) -> list[str]:
    return [check["status"] for check in report["checks"]]
