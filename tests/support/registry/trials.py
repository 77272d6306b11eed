"""Calls the routes of trial runs, on a service with endpoints that it may call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from app.settings import EgressSettings, EmbeddingSettings, JudgeSettings, SandboxSettings
from tests.support.endpoints import EndpointServer
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database
from tests.support.store.provisioned import provisioned
from tests.support.web.application import application

RUN, VALIDATE = "/v1/fine_tuning/alpha/graders/run", "/v1/fine_tuning/alpha/graders/validate"


class Trials:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def post(self, path: str, body: Any, *, status: int = 200) -> dict[str, Any]:
        reply = await self._http.post(path, json=body)
        assert reply.status_code == status, reply.text
        answer: dict[str, Any] = reply.json()
        return answer

    async def fault(self, path: str, body: Any) -> tuple[str | None, str | None, str]:
        """Returns parameter, code and message of a 400."""
        error = (await self.post(path, body, status=400))["error"]
        return error["param"], error["code"], error["message"]

    async def run(self, grader: Any, answer: str = "42", **more: Any) -> dict[str, Any]:
        more.setdefault("item", {"answer": "42"})
        return await self.post(RUN, {"grader": grader, "model_sample": answer, **more})

    @asynccontextmanager
    async def of_another_project(self, database: Database) -> AsyncIterator["Trials"]:
        """Yields calls of the same application with a key of a project of its own."""
        [created] = await provisioned(database, database.settings, "second")
        headers = {"Authorization": f"Bearer {created.api_key}"}
        async with httpx.AsyncClient(
            transport=self._http._transport,
            base_url="http://test",
            headers=headers,
            timeout=PATIENCE_S,
        ) as http:
            yield Trials(http)

    async def get(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = (await self._http.get(path)).json()
        return answer

    async def secret(self) -> str:
        reply = await self._http.get("/v1/signing_secret")
        secret: str = reply.json()["secret"]
        return secret


@asynccontextmanager
async def serving(
    database: Database,
    *servers: EndpointServer,
    judges: tuple[JudgeSettings, ...] = (),
    engine_url: str = "http://127.0.0.1:9",
    call_timeout_s: float = 3.0,
    max_body_bytes: int = 1_048_576,
    sandbox: Path | None = None,
    embeddings: EmbeddingSettings | None = None,
) -> AsyncIterator[Trials]:
    """`sandbox` is the socket of a runner."""
    egress = EgressSettings(
        allow_endpoints=tuple(server.host_port for server in servers),
        allow_plain_http=True,
        call_timeout_s=call_timeout_s,
        max_retries=1,
        max_body_bytes=max_body_bytes,
    )
    changes = {
        "egress": egress,
        "judges": judges,
        "embeddings": embeddings,
        "engine_url": engine_url,
        "sandbox": SandboxSettings(socket=sandbox),
    }
    settings = database.settings.model_copy(update=changes)
    [created] = await provisioned(database, settings, "first")
    app = application(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {created.api_key}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=headers, timeout=PATIENCE_S
        ) as http,
    ):
        yield Trials(http)


FLAGS = {
    "formula_parse_error": False,
    "sample_parse_error": False,
    "truncated_observation_error": False,
    "unresponsive_reward_error": False,
    "invalid_variable_error": False,
    "other_error": False,
    "python_grader_server_error": False,
    "python_grader_server_error_type": None,
    "python_grader_runtime_error": False,
    "python_grader_runtime_error_details": None,
    "model_grader_server_error": False,
    "model_grader_refusal_error": False,
    "model_grader_parse_error": False,
    "model_grader_server_error_details": None,
    "details": None,
}


def judge(model: str, **more: Any) -> dict[str, Any]:
    prompt = [{"role": "user", "content": "Is it {{ item.answer }}? {{ sample.output_text }}"}]
    return {"type": "score_model", "name": "j", "model": model, "input": prompt, **more}
