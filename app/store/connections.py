"""What happens on a pooled connection before a statement of ours: is it alive, and where does its
transaction begin.

Both are written below SQLAlchemy to save round trips: `BEGIN` and the settings that row-level
security reads travel together, and a server that went away has said so on the socket already.
"""

import select
from collections.abc import Mapping
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg import Error
from psycopg.pq import Escaping
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncConnection


async def begin(connection: AsyncConnection, context: Mapping[str, str]) -> None:
    """Open a transaction whose settings end with it.

    Raises `ConnectionError` when the connection is gone; the pool then forgets it.
    """
    driver = await driver_of(connection)
    parts = [b"BEGIN"]
    if context:
        settings = [
            b"set_config(%b, %b, true)" % (_literal(driver, name), _literal(driver, value))
            for name, value in context.items()
        ]
        parts.append(b"SELECT " + b", ".join(settings))
    try:
        # Several statements in one message cannot be prepared.
        await driver.execute(b"; ".join(parts), prepare=False)
    except Error as error:
        if not driver.closed:
            raise
        await connection.invalidate()
        raise ConnectionError("the connection is gone") from error


def _literal(driver: DriverConnection[Any], value: str) -> bytes:
    return bytes(Escaping(driver.pgconn).escape_literal(value.encode()))


async def driver_of(connection: AsyncConnection) -> DriverConnection[Any]:
    driver = (await connection.get_raw_connection()).driver_connection
    if not isinstance(driver, DriverConnection):
        raise TypeError("not a connection of psycopg")
    return driver


def refuse_closed(connection: Any, _record: object, _proxy: object) -> None:
    """On the way out of the pool. An idle server says nothing but its farewell."""
    pgconn = connection.driver_connection.pgconn
    if pgconn.status != 0:  # libpq's CONNECTION_OK
        raise DisconnectionError("closed")
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    if poll.poll(0):
        raise DisconnectionError("the server closed the connection")
