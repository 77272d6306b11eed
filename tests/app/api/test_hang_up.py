"""Checks that read files or call endpoints end with the client's connection."""

import asyncio
import json
from typing import Any

from starlette.types import Message

from app.database import Database as Store
from app.settings import EgressSettings
from app.wiring import provisioning_service
from tests.support.endpoints import Reply, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database
from tests.support.web.application import application


class Caller:
    """Calls an application with one project's key, and can hang up during a call."""

    def __init__(self, app: Any, key: str) -> None:
        self._app = app
        self._key = key

    async def call(self, path: str, body: Any, *, hang_up_after_s: float | None = None) -> Any:
        sent, replies = False, list[Message]()

        async def receive() -> Message:
            nonlocal sent
            if not sent:
                sent = True
                content = json.dumps(body).encode()
                return {"type": "http.request", "body": content, "more_body": False}
            await asyncio.sleep(3600 if hang_up_after_s is None else hang_up_after_s)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            replies.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [
                (b"authorization", f"Bearer {self._key}".encode()),
                (b"content-type", b"application/json"),
            ],
            "client": ("127.0.0.1", 1),
            "server": ("test", 80),
            "state": {},
        }
        await asyncio.wait_for(self._app(scope, receive, send), PATIENCE_S)
        return json.loads(b"".join(message.get("body", b"") for message in replies))


async def caller_of(app: Any, settings: Any) -> Caller:
    store = Store(settings.database_url)
    made = await provisioning_service(settings, store).provision(
        slug="first", title="First", project_name="p"
    )
    await store.dispose()
    return Caller(app, made.api_key)


async def test_a_preflight_ends(database: Database) -> None:
    async with endpoint(lambda _: Reply(200, delay_s=3600)) as server:
        egress = EgressSettings(allow_endpoints=(server.host_port,), allow_plain_http=True)
        settings = database.settings.model_copy(update={"egress": egress})
        app = application(settings)
        async with app.router.lifespan_context(app):
            caller = await caller_of(app, settings)
            grader = {"type": "endpoint", "url": server.url()}
            method = {"type": "reinforcement", "reinforcement": {"grader": grader}}
            body = {"model": "tiny-agent", "training_file": "file-x", "method": method}
            path = "/v1/fine_tuning/jobs/validate"
            reply = await caller.call(path, body, hang_up_after_s=0.5)
    assert reply["error"]["message"] == "The client hung up."


async def test_a_curriculum_test_ends_and_frees_its_slot(database: Database) -> None:
    app = application(database.settings)
    async with app.router.lifespan_context(app):
        caller = await caller_of(app, database.settings)
        rows = [{"messages": [{"role": "user", "content": f"q{n}"}]} for n in range(12)]
        made = await caller.call("/v1/curricula", {"name": "c", "training": rows})
        path = f"/v1/curricula/{made['id']}/test"
        slots = app.state.context.inspections.slots
        others = [await slots.acquire(f"organization{n}", f"project{n}") for n in range(3)]
        reply = await caller.call(path, {}, hang_up_after_s=0.5)
        for free in others:
            free()
        assert reply["error"]["message"] == "The client hung up."
        assert (await caller.call(path, {}))["passed"] is True
