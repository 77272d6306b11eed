"""Pooled connections: the check of a connection, the begin of a transaction, lost connections.

`BEGIN` and the settings that row-level security reads are sent in one pipeline.
"""

import asyncio
import select
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection as DriverConnection
from psycopg.pq import TransactionStatus
from sqlalchemy import PoolResetState
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.current_actor import current_actor
from app.domain.errors import Unavailable
from app.store.transactions.statements import ACTOR

_SET = "SELECT set_config(%s, %s, true)"
_LOSSES = (OperationalError, InterfaceError, PoolTimeoutError, psycopg.OperationalError)
_PASSING: Final = ("08", "40", "53", "55P03", "57", "58")
"""Prefixes of the SQLSTATEs after which a retry may succeed: the server is unavailable, stops, is
full, or aborted the statement because of another one, a timeout or a cancellation. Psycopg
classifies further codes as operational, such as 54, but a value beyond a limit of Postgres fails
every time.
"""


def is_connection_loss(error: BaseException) -> bool:
    """Returns True if the connection was lost or the server has a temporary fault; False for a
    fault of the statement.
    """
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return True
        if isinstance(error.orig, psycopg.Error):
            return _is_of_the_server(error.orig)
    if isinstance(error, psycopg.Error):
        return _is_of_the_server(error)
    return isinstance(error, (*_LOSSES, ConnectionError))


def _is_of_the_server(error: psycopg.Error) -> bool:
    """Returns True for an error without an SQLSTATE: the driver lost the server or never reached
    it.
    """
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith(_PASSING)


@contextmanager
def losses_as_unavailable() -> Iterator[None]:
    """Raises `Unavailable` instead of an error that means a lost connection."""
    try:
        yield
    except Exception as error:
        if is_connection_loss(error):
            raise Unavailable("The database is not available at the moment.") from error
        raise


async def begin(
    connection: AsyncConnection, context: Mapping[str, str], *, acts: bool = False
) -> None:
    """Begins a transaction with settings that end with it. If it `acts`, its changes are those of
    the task's actor.

    Raises `ConnectionError` when the connection is lost, and removes it from the pool. A
    cancellation removes it too: psycopg does not leave a pipeline that it was cancelled while
    entering, and the next transaction on the connection would get no rows.
    """
    driver = await driver_of(connection)
    try:
        async with driver.pipeline():
            await driver.execute("BEGIN", prepare=True)
            for setting in context.items():
                await driver.execute(_SET, setting, prepare=True)
            if acts and (actor := current_actor()) is not None:
                await driver.execute(_SET, (ACTOR, actor.text), prepare=True)
    except psycopg.Error as error:
        if not driver.closed:
            raise
        await connection.invalidate()
        raise ConnectionError("the connection is lost") from error
    except asyncio.CancelledError:
        await connection.invalidate()
        raise


async def driver_of(connection: AsyncConnection) -> DriverConnection[Any]:
    """Returns psycopg's own connection."""
    driver = (await connection.get_raw_connection()).driver_connection
    if not isinstance(driver, DriverConnection):
        raise TypeError("the driver's connection is not a psycopg AsyncConnection")
    return driver


def refuse_closed(connection: Any, _record: object, _proxy: object) -> None:
    """Refuses a closed connection at check-out from the pool, so that the pool opens another.

    An idle server only sends the end of the connection, so a readable socket means that the server
    closed it.
    """
    pgconn = connection.driver_connection.pgconn
    if pgconn.status != 0:  # libpq's CONNECTION_OK
        raise DisconnectionError("closed")
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    if poll.poll(0):
        raise DisconnectionError("the server closed the connection")


def is_idle(driver: DriverConnection[Any]) -> bool:
    """Returns True for an open connection without a transaction."""
    return driver.pgconn.transaction_status == TransactionStatus.IDLE


def roll_back_open(connection: Any, _record: object, state: PoolResetState) -> None:
    """Rolls back the transaction of a connection that returns to the pool, if it has one: after a
    statement of its own it has none.
    """
    if not state.asyncio_safe or state.transaction_was_reset:
        return
    if not is_idle(connection.driver_connection):
        connection.rollback()
