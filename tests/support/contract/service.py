"""The service on a real socket with a scripted engine behind it, and rows to page through."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
from openai import AsyncOpenAI, DefaultHttpxClient, OpenAI

from app.local.state import free_port
from app.settings import EgressSettings
from tests.support.api.agreement import check_agreement, copied_headers, is_compared
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.objects.stored_directories import store_directory
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database, Services
from tests.support.web.api_server import ApiServer, running_api

BASE = "tiny-agent-2026-11-23"


ENDPOINT = "http://127.0.0.1:9"
CHATS_IN_FLIGHT = 6


HOOK_PORT = free_port()
"""Port on which a test may listen for the service's webhooks."""


ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n'


def _compare(reports: httpx.Client, reply: httpx.Response) -> None:
    """Compares each refused create call with the report on it, which `reports` fetches."""
    reply.request.read()
    if is_compared(reply):
        reply.read()
        url = f"{reply.request.url}/validate"
        headers = {**copied_headers(reply.request), "content-type": "application/json"}
        report = reports.post(url, content=reply.request.content, headers=headers)
        check_agreement(reply, report)


@dataclass(frozen=True, slots=True)
class Service:
    api: ApiServer
    engine: ChatEngine
    database: Database
    http: DefaultHttpxClient = field(repr=False)
    """The connections of openai's clients."""

    def client(self, **options: Any) -> OpenAI:
        options.setdefault("http_client", self.http)
        return OpenAI(
            base_url=self.api.base_url, api_key=options.pop("key", self.api.key), **options
        )

    def async_client(self) -> AsyncOpenAI:
        return AsyncOpenAI(base_url=self.api.base_url, api_key=self.api.key)

    def execute(self, query: str, *values: Any) -> None:
        url = self.database.superuser_url.replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            connection.execute(query, values)

    def value(self, query: str, *values: Any) -> Any:
        """Returns the first column of the first row."""
        url = self.database.superuser_url.replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            row = connection.execute(query.encode(), values).fetchone()
        return None if row is None else row[0]

    def columns(self, table: str) -> str:
        """Returns the names of the columns that an insert may set, for SQL."""
        names = self.value(
            "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns"
            " WHERE table_name = %s AND is_generated = 'NEVER'",
            table,
        )
        return str(names)

    def add_tuned_model(
        self,
        job_id: str,
        name: str,
        engine_name: str,
        *,
        reasoning_effort: str | None = None,
        object_key: str = "adapters/x",
    ) -> None:
        """Adds a model and, if nothing is stored under its key, a directory there."""
        store_directory(self.database.settings.objects_dir, object_key)
        self.execute(
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step, reasoning_effort)"
            " SELECT %s, project_id, id, model, %s, %s, 1, %s"
            " FROM fine_tuning_jobs WHERE id = %s",
            name,
            engine_name,
            object_key,
            reasoning_effort,
            job_id,
        )

    def project_of(self, key: str) -> str:
        url = self.database.superuser_url.replace("+psycopg", "")
        query = "SELECT project_id FROM api_keys WHERE key_id = %s"
        with psycopg.connect(url) as connection:
            row = connection.execute(query, (key.split("_")[2],)).fetchone()
        assert row is not None
        return str(row[0])

    def add_projects(self, sibling: str, count: int) -> list[str]:
        """Inserts more projects of a project's organization."""
        self.execute(
            "INSERT INTO projects (id, organization_id, name)"
            " SELECT 'proj_more' || n, organization_id, 'more ' || n"
            " FROM projects, generate_series(1, %s) n WHERE id = %s",
            count,
            sibling,
        )
        return [f"proj_more{number}" for number in range(1, count + 1)]

    def add_rows(self, job_id: str, *, events: int, checkpoints: int) -> None:
        self.execute(
            "INSERT INTO job_events (id, project_id, job_id, level, type, message)"
            " SELECT 'ftevent-' || n, project_id, id, 'info', 'message', 'event ' || n"
            " FROM fine_tuning_jobs, generate_series(1, %s) n WHERE id = %s ORDER BY n",
            events,
            job_id,
        )
        self.execute(
            "INSERT INTO checkpoints"
            " (id, project_id, job_id, step, model_name, object_key, metrics)"
            " SELECT 'ftckpt_' || n, project_id, id, n, 'ft:x:ckpt-step-' || n, 'k', %s"
            " FROM fine_tuning_jobs, generate_series(1, %s) n WHERE id = %s",
            json.dumps({"train_mean_reward": 0.5}),
            checkpoints,
            job_id,
        )


@contextmanager
def running_service(services: Services, directory: Path, **quotas: int) -> Iterator[Service]:
    """Runs the API on a socket, with a fresh database and a scripted engine."""
    with services.database(directory) as database, chat_engine(BASE) as engine:
        egress = EgressSettings(
            allow_endpoints=("127.0.0.1:9", f"127.0.0.1:{HOOK_PORT}"), allow_plain_http=True
        )
        limits = {"chats_in_flight": CHATS_IN_FLIGHT, **quotas}
        changes = {
            "egress": egress,
            "engine_url": engine.url,
            "quotas": database.settings.quotas.model_copy(update=limits),
        }
        with (
            running_api(database.settings.model_copy(update=changes)) as api,
            httpx.Client(timeout=PATIENCE_S) as reports,
            # One for all calls: each new client reads the certificates of all authorities.
            DefaultHttpxClient(event_hooks={"response": [partial(_compare, reports)]}) as http,
        ):
            yield Service(api, engine, database, http)
