"""Starts the application on a fresh database with two tenants and calls it over ASGI."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from app.settings import EgressSettings, HubSettings, SandboxSettings
from tests.support.api.agreement import check_agreement, copied_headers, is_compared
from tests.support.api.job_calls import JOBS
from tests.support.processes.shared_inspections import shared_inspections
from tests.support.stack import Database
from tests.support.store.provisioned import provisioned
from tests.support.web.application import application

ENDPOINT = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class Api:
    """Two projects of two organizations behind one application."""

    http: httpx.AsyncClient
    key: str
    other_key: str
    admin_key: str
    project_id: str = ""
    """The project of `key`."""

    async def call(self, method: str, path: str, *, key: str | None = None, **kwargs: Any) -> Any:
        headers = {"Authorization": f"Bearer {key or self.key}", **kwargs.pop("headers", {})}
        reply = await self.http.request(method, path, headers=headers, **kwargs)
        if is_compared(reply):
            request = reply.request
            report = await self.http.post(
                f"{JOBS}/validate", content=request.content, headers=copied_headers(request)
            )
            check_agreement(reply, report)
        return reply

    async def upload(self, content: bytes, *, purpose: str = "fine-tune", **kwargs: Any) -> Any:
        return await self.call(
            "POST",
            "/v1/files",
            files={"file": ("rows.jsonl", content)},
            data={"purpose": purpose},
            **kwargs,
        )


@asynccontextmanager
async def running(
    database: Database, *allowed: str, sandbox: Path | None = None, hub: HubSettings | None = None
) -> AsyncIterator[Api]:
    """Runs the application, which may call the given addresses of this machine. `sandbox` is the
    socket of a runner, and without one none is waited for; `hub` is the hub of data sets.
    """
    egress = EgressSettings(allow_endpoints=allowed, allow_plain_http=True)
    changes = {
        "egress": egress,
        "sandbox": SandboxSettings(socket=sandbox),
        "hub": hub or HubSettings(),
    }
    settings = database.settings.model_copy(update=changes)
    app = application(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    with shared_inspections():
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as http,
        ):
            if sandbox is None:
                context = app.state.context
                context.sandbox = replace(context.sandbox, patience_s=0.0)
            first, second = await provisioned(database, settings, "first", "second")
            keys = first.api_key, second.api_key
            yield Api(http, *keys, first.admin_key, first.project_id)
