"""The yardstick of `control_plane.py`: the statements of two routes in a bare FastAPI application.

One psycopg connection per request out of a plain queue, without models, services or middleware;
rows are returned unchanged. It does the minimum of any correct service: it looks up the key, sets
the tenant, and reads or writes under row-level security.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from fastapi import FastAPI, Request
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from app.settings import load_settings

_CONNECTIONS = 10
"""The number equals the maximum of the service's own pool."""
_KEY = "SELECT * FROM api_keys WHERE key_id = %s"
_JOB = "SELECT * FROM fine_tuning_jobs WHERE id = %s"
_FILE = "SELECT * FROM files WHERE id = %s AND deleted_at IS NULL"
_POSITION = "SELECT job_id, place, starts_at FROM queue_places(%s)"
_LOCK = "SELECT archived_at, max_queued_jobs FROM projects WHERE id = %s FOR KEY SHARE"
_QUEUED = """
    SELECT count(*) FROM fine_tuning_jobs
    WHERE project_id = %s AND status IN ('validating_files', 'queued')
"""
_NEW_JOB = """
    INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,
        training_file, validation_file, seed, method, integrations, result_files)
    VALUES (%s, %s, %s, %s, %s, 'validating_files', %s, %s, %s, %s, '[]', '[]')
"""
_NEW_EVAL = """
    INSERT INTO evals (id, project_id, job_id, name, data_source_config, testing_criteria)
    VALUES (%s, %s, %s, %s, %s, %s)
"""
_NEW_EVENT = """
    INSERT INTO job_events (id, project_id, job_id, level, type, message)
    VALUES (%s, %s, %s, 'info', 'message', %s)
"""
_LOG_EVENT = """
    INSERT INTO event_log (id, project_id, type, subject, data)
    VALUES (%s, %s, 'job.message', %s, %s)
"""
Connection = psycopg.AsyncConnection[dict[str, Any]]


class Pool:
    def __init__(self) -> None:
        self._idle: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()

    async def open(self, url: str) -> None:
        for _ in range(_CONNECTIONS):
            self._idle.put_nowait(await psycopg.AsyncConnection.connect(url, row_factory=dict_row))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        connection = await self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put_nowait(connection)


async def _context(connection: Connection, name: str, value: str) -> None:
    await connection.execute("SELECT set_config(%s, %s, true)", (name, value))


async def _row(connection: Connection, query: str, *values: Any) -> dict[str, Any]:
    row = await (await connection.execute(query.encode(), values)).fetchone()
    if row is None:
        raise LookupError(query)
    return row


def create() -> FastAPI:
    """Creates the application for uvicorn, with the service's own settings in the environment."""
    pool, settings = Pool(), load_settings()
    secret_key = settings.key_hmac

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(settings.database_url.replace("+psycopg", ""))
        yield

    app = FastAPI(lifespan=lifespan)

    async def authenticated(connection: Connection, request: Request) -> dict[str, Any]:
        _, _, key_id, rest = request.headers["authorization"].split("_", 3)
        await _context(connection, "app.key_id", key_id)
        key = await _row(connection, _KEY, key_id)
        await connection.commit()
        digest = hmac.digest(secret_key, b"api-key:" + rest[:40].encode(), hashlib.sha256)
        if not hmac.compare_digest(digest, key["secret_hmac"][-len(digest) :]):
            raise PermissionError
        await _context(connection, "app.project", key["project_id"])
        return key

    @app.get("/healthz")
    async def alive() -> None:
        return None

    @app.get("/v1/fine_tuning/jobs/{job_id}")
    async def get_job(job_id: str, request: Request) -> dict[str, Any]:
        async with pool.connection() as connection:
            await authenticated(connection, request)
            job = await _row(connection, _JOB, job_id)
            await connection.commit()
        return _shown(job)

    @app.post("/v1/fine_tuning/jobs")
    async def create_job(body: dict[str, Any], request: Request) -> dict[str, Any]:
        async with pool.connection() as connection:
            key = await authenticated(connection, request)
            job = await _insert(connection, key, body)
            await connection.commit()
        return _shown(job)

    return app


async def _insert(
    connection: Connection, key: dict[str, Any], body: dict[str, Any]
) -> dict[str, Any]:
    job_id, project = f"ftjob-{secrets.token_hex(12)}", key["project_id"]
    files = (body["training_file"], body["validation_file"])
    for file in files:
        await _row(connection, _FILE, file)
    await _row(connection, _LOCK, project)
    await _row(connection, _QUEUED, project)
    seed, method = secrets.randbelow(2**31), Jsonb(body["method"])
    job = (job_id, key["organization_id"], project, key["id"], body["model"], *files, seed, method)
    await connection.execute(_NEW_JOB, job)
    grader = body["method"]["reinforcement"]["grader"]
    source = Jsonb({"type": "custom", "schema": {}})
    evals = (f"eval_{job_id}", project, job_id, f"of {job_id}", source, Jsonb([grader]))
    await connection.execute(_NEW_EVAL, evals)
    event_id, message = f"ftevent-{secrets.token_hex(12)}", f"Created {job_id}"
    await connection.execute(_NEW_EVENT, (event_id, project, job_id, message))
    data = Jsonb({"level": "info", "message": message, "data": None})
    await connection.execute(_LOG_EVENT, (event_id, project, job_id, data))
    position = await _row(connection, _POSITION, [job_id])
    return {**await _row(connection, _JOB, job_id), "queue_position": position["place"]}


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    job = {name: value for name, value in row.items() if name != "secrets"}
    job["created_at"] = int(row["created_at"].timestamp())
    return job
