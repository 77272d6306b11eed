"""Rows that almost every request reads, each in one statement and so in one round trip.

The setting that opens a row to the caller and the query stand in the same statement: the inner
query cannot run before the setting, because it waits for its value, and the setting ends with the
statement. Row-level security holds as in any unit of work. Connections here are in no transaction.
"""

from dataclasses import fields
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncCursor
from psycopg.rows import namedtuple_row
from sqlalchemy import inspect

from app.domain.accounts.keys import ApiKeyRow
from app.domain.accounts.tenants import KeyKind
from app.domain.jobs.jobs import Job, QueuePosition
from app.store.jobs.rows import places_by_job, to_job
from app.store.schema.fine_tuning_jobs import FineTuningJobTable
from app.store.times import unix

_OPENED = """
    WITH opened AS MATERIALIZED (SELECT set_config('{setting}', %s, true) AS value)
    SELECT found.* FROM opened CROSS JOIN LATERAL ({query} OFFSET 0) AS found
"""
_KEY = _OPENED.format(
    setting="app.key_id", query="SELECT * FROM api_keys WHERE key_id = opened.value"
)
_COLUMNS = ", ".join(
    f'"{column.columns[0].name}" AS {column.key}'
    for column in inspect(FineTuningJobTable).column_attrs
    if column.key != "secrets"
)
_JOB = _OPENED.format(
    setting="app.project",
    query=f"SELECT {_COLUMNS} FROM fine_tuning_jobs "  # noqa: S608 - names of our own columns
    "WHERE project_id = opened.value AND id = %s",
)


_PLACES = _OPENED.format(
    setting="app.project",
    # The argument waits for the setting, which the function reads.
    query="SELECT * FROM queue_places(CASE WHEN opened.value IS NOT NULL THEN %s::text[] END)",
)


async def find_key(driver: DriverConnection[Any], key_id: str) -> ApiKeyRow | None:
    """The row of a key's look-up part: who asks is not known yet."""
    row = await _one(driver, _KEY, key_id)
    if row is None:
        return None
    values = {one.name: _plain(getattr(row, one.name)) for one in fields(ApiKeyRow)}
    return ApiKeyRow(**{**values, "kind": KeyKind(row.kind)})


async def find_job(driver: DriverConnection[Any], project_id: str, job_id: str) -> Job | None:
    row = await _one(driver, _JOB, project_id, job_id)
    return None if row is None else to_job(row)


async def find_places(
    driver: DriverConnection[Any], project_id: str, job_ids: list[str]
) -> dict[str, QueuePosition]:
    cursor = await _asked(driver, _PLACES, project_id, job_ids)
    return places_by_job(await cursor.fetchall())


def _plain(value: Any) -> Any:
    return unix(value) if isinstance(value, datetime) else value


async def _one(driver: DriverConnection[Any], query: str, *values: str) -> Any:
    return await (await _asked(driver, query, *values)).fetchone()


async def _asked(
    driver: DriverConnection[Any], query: str, *values: str | list[str]
) -> AsyncCursor[Any]:
    cursor = driver.cursor(row_factory=namedtuple_row)
    # Prepared at once: planning takes as long as the rest.
    await cursor.execute(query.encode(), values, prepare=True)
    return cursor
