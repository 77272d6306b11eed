"""One statement alone: a transaction of its own in one round trip.

The setting that row-level security reads and the statement leave in one pipeline. Postgres treats
a pipeline without `BEGIN` as one transaction, so the setting ends with the statement, and a pooled
connection carries nothing over. Inside the transaction of a request the statement joins it instead.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncRawCursor
from psycopg import Error as DriverError
from psycopg.rows import namedtuple_row
from sqlalchemy.ext.asyncio import AsyncEngine

from app.store.connections import driver_of, losses_as_unavailable, set_context
from app.store.request_transaction import joinable
from app.store.statements import Callback, PreparedStatement, Values
from app.store.unit_of_work import BaseUnitOfWork, Sessions


class AutocommitStatements:
    """Runs each statement as a transaction of its own, under the settings of `context`."""

    def __init__(self, engine: AsyncEngine, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._engine = engine
        self._sessions = sessions
        self._context = context

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        if joinable(self._context) is not None:
            async with BaseUnitOfWork(self._sessions, self._context) as unit:
                return await unit.rows(statement, values)
        with losses_as_unavailable():
            async with self._engine.connect() as connection:
                driver = await driver_of(connection)
                try:
                    return await self._rows(driver, statement, values)
                except DriverError:
                    if driver.closed:
                        await connection.invalidate()
                    raise

    async def _rows(
        self, driver: DriverConnection[Any], statement: PreparedStatement, values: Values
    ) -> Sequence[Any]:
        # Raw: a text with numbered parameters need not be searched for placeholders.
        cursor = AsyncRawCursor(driver, row_factory=namedtuple_row)
        async with driver.pipeline():
            await set_context(driver, self._context)
            await cursor.execute(statement.text, statement.arguments(values), prepare=True)
        return await cursor.fetchall()

    async def after_commit(self, callback: Callback) -> None:
        request = joinable(self._context)
        if request is None:
            await callback()
        else:
            request.after_commit.append(callback)
