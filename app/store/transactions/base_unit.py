"""The base of every unit of work: one transaction, its context, and the only commit of the code.

A lost connection becomes `Unavailable`. Callbacks registered with `after_commit` run only once the
commit has succeeded. A callback that fails is logged and raises nothing: the rows are committed.
Must not know the stores that a unit has.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.store.transactions.connections import begin, is_connection_loss, losses_as_unavailable
from app.store.transactions.request_transaction import RequestTransaction, joinable
from app.store.transactions.statements import Callback, PreparedStatement, SessionStatements, Values

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]


class BaseUnitOfWork:
    """A transaction with settings that row-level security reads."""

    _acts = False

    def __init__(self, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._sessions = sessions
        self._context = context
        self._after_commit: list[Callback] = []
        self._joined: RequestTransaction | None = None

    def after_commit(self, callback: Callback) -> None:
        self._after_commit.append(callback)

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        """Runs one statement in this transaction and returns its rows."""
        return await self._statements.rows(statement, values)

    async def __aenter__(self) -> Self:
        self._joined = joinable(self._context)
        with losses_as_unavailable():
            if self._joined is not None:
                await self._join(self._joined)
            else:
                await self._begin()
        return self

    async def _begin(self) -> None:
        self._session = self._sessions()
        try:
            await begin(await self._session.connection(), self._context, acts=self._acts)
            await self._build(self._session)
        except BaseException:
            await self._close()
            raise

    async def _join(self, request: RequestTransaction) -> None:
        await request.enter()
        try:
            self._session = request.session
            self._savepoint = await self._session.begin_nested()
            await self._build(self._session)
        except BaseException:
            request.leave()
            raise

    async def _build(self, session: AsyncSession) -> None:
        self._statements = SessionStatements(session, self.after_commit)
        await self._open(session)

    async def _open(self, session: AsyncSession) -> None:
        """Builds the stores of this unit; overridden by each kind of unit."""

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
                await self._end(error)
            if error is not None and is_connection_loss(error):
                raise error
        if error is None and self._joined is None:
            await self._run_callbacks()

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

    async def _end(self, error: BaseException | None) -> None:
        try:
            if error is None:
                await self._session.commit()
        finally:
            await self._close()

    async def _run_callbacks(self) -> None:
        for callback in self._after_commit:
            try:
                await callback()
            except Exception:
                log.exception("after-commit work failed")

    async def _close(self) -> None:
        """Rolls back an open transaction; a lost connection has nothing to roll back."""
        try:
            await self._session.close()
        except Exception as error:
            if not is_connection_loss(error):
                raise
