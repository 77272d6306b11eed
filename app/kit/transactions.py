"""Transactions of requests and runs on pooled connections, which may be lost.

`BEGIN` and the settings that row-level security reads are sent in one pipeline.
"""

import asyncio
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar, cast

import psycopg
import structlog
from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncRawCursor
from psycopg.pq import TransactionStatus
from sqlalchemy import PoolResetState
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.util import greenlet_spawn

from app.kit.callers import Principal, current_actor
from app.kit.errors import Unavailable
from app.kit.slots import SharedSlots
from app.kit.sql import ACTOR, Callback, PreparedStatement, SessionStatements, Values

_SET = "SELECT set_config(%s, %s, true)"
_LOSSES = (OperationalError, InterfaceError, PoolTimeoutError, psycopg.OperationalError)
_PASSING: Final = ("08", "40", "53", "55P03", "57", "58")
"""Prefixes of SQLSTATEs after which a retry may succeed: the server is unavailable, stops, is full,
or aborted the statement. A value beyond a limit of Postgres, such as 54, fails every time.
"""


def is_connection_loss(error: BaseException) -> bool:
    """True for a lost connection or a temporary fault of the server, not for the statement's."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.Error):
        return isinstance(error, (*_LOSSES, ConnectionError))
    if cause.sqlstate is None:  # the driver lost the server or never reached it
        return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
    return cause.sqlstate.startswith(_PASSING)


@contextmanager
def losses_as_unavailable() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if is_connection_loss(error):
            raise Unavailable("The database is not available at the moment.") from error
        raise


async def begin(
    connection: AsyncConnection, context: Mapping[str, str], *, acts: bool = False
) -> None:
    """Begins a transaction with settings, and the task's actor if it `acts`.

    Raises `ConnectionError` for a lost connection, which leaves the pool. A cancellation removes it
    too: psycopg does not leave a pipeline that it was entering, and later transactions get no rows.
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
    raw = await connection.get_raw_connection()
    return cast("DriverConnection[Any]", raw.driver_connection)


def refuse_closed(connection: Any, _record: object, _proxy: object) -> None:
    """Refuses a closed connection, so that the pool opens another: an idle server only sends the
    end of a connection, which makes its socket readable.
    """
    pgconn = connection.driver_connection.pgconn
    if pgconn.status != 0:  # libpq's CONNECTION_OK
        raise DisconnectionError("closed")
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    if poll.poll(0):
        raise DisconnectionError("the server closed the connection")


def is_idle(driver: DriverConnection[Any]) -> bool:
    return driver.pgconn.transaction_status == TransactionStatus.IDLE


def roll_back_open(connection: Any, _record: object, state: PoolResetState) -> None:
    is_open = state.asyncio_safe and not state.transaction_was_reset
    if is_open and not is_idle(connection.driver_connection):
        connection.rollback()


_SLOT_TIMEOUT_S: Final = 10.0
_current: ContextVar["RequestTransaction | None"] = ContextVar("request_transaction", default=None)


class RequestTransaction:
    def __init__(self, session: AsyncSession, context: Mapping[str, str]) -> None:
        self.session = session
        self.context = dict(context)
        self.after_commit: list[Callable[[], Awaitable[None]]] = []
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._depth = 0

    async def enter(self) -> None:
        task = asyncio.current_task()
        if self._holder is not task or task is None:
            await self._lock.acquire()
            self._holder = task
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._holder = None
            self._lock.release()


class RequestSlots:
    """Limits the requests that occupy a connection until they end, as each may need a second one. A
    project leaves slots to the others of its organization, and that one to others.
    """

    def __init__(self, at_once: int) -> None:
        self._slots = SharedSlots(
            at_once, of_organization=max(1, at_once - 1), of_project=max(1, at_once - 2)
        )

    @asynccontextmanager
    async def taken(self, principal: Principal) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(_SLOT_TIMEOUT_S):
                free = await self._slots.acquire(principal.organization_id, principal.scope_id)
        except TimeoutError as error:
            raise Unavailable("Too many requests are running; try again soon.") from error
        try:
            yield
        finally:
            free()


def joinable(context: Mapping[str, str]) -> RequestTransaction | None:
    current = _current.get()
    return current if current is not None and current.context == dict(context) else None


def register(transaction: RequestTransaction) -> Callable[[], None]:
    token = _current.set(transaction)
    return lambda: _current.reset(token)


log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]


class BaseUnitOfWork:
    _acts = False

    def __init__(self, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._sessions, self._context = sessions, context
        self._after_commit: list[Callback] = []
        self._joined: RequestTransaction | None = None

    def after_commit(self, callback: Callback) -> None:
        self._after_commit.append(callback)

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        return await self._statements.rows(statement, values)

    async def __aenter__(self) -> Self:
        self._joined = request = joinable(self._context)
        with losses_as_unavailable():
            if request is not None:
                await request.enter()
            self._session = self._sessions() if request is None else request.session
            try:
                if request is not None:
                    self._savepoint = await self._session.begin_nested()
                else:
                    await begin(await self._session.connection(), self._context, acts=self._acts)
                self._statements = SessionStatements(self._session, self.after_commit)
                await self._open(self._session)
            except BaseException:
                if request is not None:
                    request.leave()
                else:
                    await self._close()
                raise
        return self

    async def _open(self, session: AsyncSession) -> None:
        """What a kind of unit does first in its transaction, such as a lock."""

    @property
    def project_id(self) -> str:
        return self._context.get("app.project", "")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with losses_as_unavailable():
            if self._joined is not None:
                await self._leave(self._joined, error)
            else:
                try:
                    if error is None:
                        await self._session.commit()
                finally:
                    await self._close()
            if error is not None and is_connection_loss(error):
                raise error
        for callback in self._after_commit if error is None and self._joined is None else ():
            try:
                await callback()
            except Exception:
                log.exception("after-commit work failed")

    async def _leave(self, request: RequestTransaction, error: BaseException | None) -> None:
        """Releases this unit's savepoint in the request's transaction, or rolls it back."""
        try:
            if error is None:
                await self._savepoint.commit()
                request.after_commit += self._after_commit
            elif self._savepoint.is_active:
                await self._savepoint.rollback()
        finally:
            request.leave()

    async def _close(self) -> None:
        try:
            await self._session.close()
        except Exception as error:
            if not is_connection_loss(error):
                raise


S_co = TypeVar("S_co", covariant=True)


class Store(Generic[S_co]):
    """A store that its unit makes where it is first named: a request uses one or two of thirty."""

    def __init__(self, make: Callable[[AsyncSession, str], S_co]) -> None:
        self._make = make

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, unit: BaseUnitOfWork, _owner: type | None = None) -> S_co:
        store = self._make(unit._session, unit.project_id)  # noqa: SLF001 - its unit makes it
        unit.__dict__[self._name] = store
        return store


def of_session(make: Callable[[AsyncSession], S_co]) -> Store[S_co]:
    """A store whose rows belong to no single project."""
    return Store(lambda session, _project_id: make(session))


class AutocommitStatements:
    """Runs each statement as a transaction of its own, under the one setting of `context`."""

    def __init__(self, engine: AsyncEngine, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._engine, self._sessions, self._context = engine, sessions, context

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
        driver = cast("DriverConnection[Any]", connection.driver_connection)
        try:
            # A raw cursor does not search the text for placeholders: its parameters are numbered.
            cursor = AsyncRawCursor(driver, row_factory=lambda _: statement.make_row)
            # The first use prepares the statement, because planning takes as long as the rest.
            await cursor.execute(statement.text, arguments, prepare=True)
            return await cursor.fetchall()
        except psycopg.Error as error:
            if driver.closed:
                connection.invalidate(error)
            raise
        finally:
            if is_idle(driver):
                connection.close()  # nothing to roll back, so nothing to wait for
            else:
                await greenlet_spawn(connection.close)
