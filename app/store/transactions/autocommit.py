"""Runs one statement as a transaction of its own, in one round trip.

The statement itself sets the setting that row-level security reads. The setting ends with the
statement, so a pooled connection keeps no tenant. A statement that runs while a transaction of the
request is open joins that transaction instead. Decision 0010 has the measurements.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncRawCursor
from psycopg import Error as DriverError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import greenlet_spawn

from app.store.transactions.base_unit import BaseUnitOfWork, Sessions
from app.store.transactions.connections import is_idle, losses_as_unavailable
from app.store.transactions.request_transaction import joinable
from app.store.transactions.statements import Callback, PreparedStatement, Values


class AutocommitStatements:
    """Runs each statement as a transaction of its own, under the one setting of `context`."""

    def __init__(self, engine: AsyncEngine, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._engine = engine
        self._sessions = sessions
        self._context = context

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        if joinable(self._context) is not None:
            async with BaseUnitOfWork(self._sessions, self._context) as unit:
                return await unit.rows(statement, values)
        arguments = statement.arguments(values, self._context[statement.setting])
        with losses_as_unavailable():
            return await self._run(statement, arguments)

    async def after_commit(self, callback: Callback) -> None:
        request = joinable(self._context)
        if request is None:
            await callback()
        else:
            request.after_commit.append(callback)

    async def _run(self, statement: PreparedStatement, arguments: list[Any]) -> Sequence[Any]:
        connection = await self._engine.raw_connection()
        driver = connection.driver_connection
        try:
            if not isinstance(driver, DriverConnection):
                raise TypeError("the driver's connection is not a psycopg AsyncConnection")
            try:
                # A raw cursor does not search the text for placeholders: its parameters are
                # numbered.
                cursor = AsyncRawCursor(driver, row_factory=lambda _: statement.make_row)
                # The first use prepares the statement, because planning takes as long as the rest.
                await cursor.execute(statement.text, arguments, prepare=True)
                return await cursor.fetchall()
            except DriverError as error:
                if driver.closed:
                    connection.invalidate(error)
                raise
        finally:
            if isinstance(driver, DriverConnection) and is_idle(driver):
                connection.close()  # nothing to roll back, so nothing to wait for
            else:
                await greenlet_spawn(connection.close)
