"""Secrets in the URLs of webhook endpoints: sealed, called whole, and shown in part."""

import json
from typing import Any

import pytest

from app.kit.sealing import SecretBox
from app.webhooks.events import EndpointCredentials, SigningSecret
from app.webhooks.sending import EndpointSecrets
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.webhook_endpoints import DONE, PATH, execute, made_endpoint
from tests.support.endpoints import Reply, endpoint
from tests.support.stack import Database


async def test_a_url_is_called_whole_and_shown_without_its_secrets(
    database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    async with endpoint(lambda _: Reply(200)) as server, running(database, server.host_port) as api:
        query = "?token=canary-query&v"
        made = await made_endpoint(api, url=server.url(f"/hook{query}#canary-fragment"))
        shown = server.url("/hook?token=[redacted]&[redacted]#[redacted]")
        url_path = f"{PATH}/{made['id']}"
        texts = [json.dumps(made)]

        async def post(path: str, body: dict[str, Any]) -> Any:
            reply = await api.call("POST", f"{url_path}{path}", json=body)
            assert reply.status_code == 200, reply.text
            texts.append(reply.text)
            return reply.json()

        async def called() -> str:
            await post("/test", {"event_type": DONE})
            return server.received[-1].path

        assert (made["url"], await called()) == (shown, f"/hook{query}")
        for change in ({"url": shown}, {"name": "other"}, {"name": "again", "url": shown}):
            assert (await post("", change))["url"] == shown
            assert await called() == f"/hook{query}"
        await post("/rotate_secret", {})
        assert await called() == f"/hook{query}"
        texts += [
            (await api.call("GET", path)).text
            for path in (url_path, PATH, f"{url_path}/deliveries")
        ]
        changed = await post("", {"url": server.url("/hook?token=canary-new")})
        assert changed["url"] == server.url("/hook?token=[redacted]")
        assert await called() == "/hook?token=canary-new"
        for elsewhere in (
            shown,
            server.url("/other?token=[redacted]"),
            server.url("/hook?token=[redacted]&x=1"),
        ):
            reply = await api.call("POST", url_path, json={"url": elsewhere})
            error = reply.json()["error"]
            assert (reply.status_code, error["param"], error["code"]) == (
                400,
                "url",
                "invalid_value",
            )
            assert "send its real value" in error["message"]
        assert await called() == "/hook?token=canary-new"
    rows = execute(database, "SELECT t::text FROM webhook_endpoints t")
    logs = capfd.readouterr()
    for text in (*texts, str(rows), logs.out, logs.err):
        assert "canary" not in text
        assert b"canary".hex() not in text


async def test_a_secret_that_changes_behind_the_same_shown_url_is_used(database: Database) -> None:
    async with endpoint(lambda _: Reply(200)) as server, running(database, server.host_port) as api:
        made = await made_endpoint(api, url=server.url("/hook?token=one"))
        url_path = f"{PATH}/{made['id']}"
        changed = (
            await api.call("POST", url_path, json={"url": server.url("/hook?token=two")})
        ).json()
        assert changed["url"] == made["url"]
        await api.call("POST", f"{url_path}/test", json={"event_type": DONE})
        assert server.received[-1].path == "/hook?token=two"


async def test_a_url_whose_secret_was_lost_has_to_be_sent_again(database: Database) -> None:
    async with endpoint(lambda _: Reply(200)) as server, running(database, server.host_port) as api:
        made = await made_endpoint(api, url=server.url("/hook"))
        url_path = f"{PATH}/{made['id']}"
        lost = server.url("/hook?token=[redacted]")
        sealed = EndpointSecrets(_box(database), _project(database)).seal(
            made["id"], EndpointCredentials((SigningSecret(made["signing_secret"]),))
        )
        execute(database, "UPDATE webhook_endpoints SET url = %s, secrets = %s", lost, sealed)
        reply = await api.call("POST", f"{url_path}/test", json={"event_type": DONE})
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["param"]) == (400, "invalid_state", "url")
        reply = await api.call("POST", url_path, json={"url": lost})
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "url")
        assert (await api.call("POST", url_path, json={"name": "n"})).status_code == 200
        assert server.received == []
        whole = server.url("/hook?token=t")
        assert (await api.call("POST", url_path, json={"url": whole})).status_code == 200
        await api.call("POST", f"{url_path}/test", json={"event_type": DONE})
        assert server.received[-1].path == "/hook?token=t"


async def test_an_envelope_that_no_key_opens_is_an_error_of_the_request(
    api: Api, database: Database
) -> None:
    made = await made_endpoint(api)
    url_path = f"{PATH}/{made['id']}"
    execute(database, "UPDATE webhook_endpoints SET secrets = decode('00', 'hex')")
    for path, body in (
        ("/test", {"event_type": DONE}),
        ("/rotate_secret", {}),
        ("", {"url": f"{ENDPOINT}/other"}),
    ):
        reply = await api.call("POST", f"{url_path}{path}", json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_state"), path


def _box(database: Database) -> SecretBox:
    return SecretBox(database.settings.secret_key.get_secret_value())


def _project(database: Database) -> str:
    [(project_id,)] = execute(database, "SELECT project_id FROM webhook_endpoints")
    return str(project_id)
