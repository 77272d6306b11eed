"""Fixed statements, and the seam through which a store runs one.

Owns: `PreparedStatement`, the protocol `Statements`, and its implementation inside a transaction.
The other implementation, `app.store.autocommit`, runs a statement alone. Promises: both return the
same rows for the same statement and values.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from psycopg.types.json import Jsonb
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

Values = Mapping[str, Any]
Callback = Callable[[], Awaitable[None]]


class PreparedStatement:
    """A statement whose text never changes, so that it is compiled once for each process."""

    def __init__(self, query: Executable) -> None:
        self.query = query

    @cached_property
    def text(self) -> bytes:
        """The statement with the driver's own numbered parameters."""
        return str(self._compiled).encode()

    def arguments(self, values: Values) -> list[Any]:
        """The parameters in the order of their numbers. JSON's null is stored as SQL's NULL."""
        given = {**self._literals, **values}
        for name in self._json:
            if given[name] is not None:
                given[name] = Jsonb(given[name])
        return [given[name] for name in self._names]

    @cached_property
    def _compiled(self) -> SQLCompiler:
        dialect = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]  # the library's constructor has no annotations
        if not isinstance(self.query, ClauseElement):
            raise TypeError("not a statement that SQLAlchemy compiles")
        compiled = self.query.compile(dialect=dialect)
        if not isinstance(compiled, SQLCompiler):
            raise TypeError("not a statement with parameters")
        return compiled

    @cached_property
    def _names(self) -> list[str]:
        return list(self._compiled.positiontup or ())

    @cached_property
    def _literals(self) -> dict[str, Any]:
        """Values that the statement itself contains."""
        return {name: one for name, one in self._compiled.params.items() if one is not None}

    @cached_property
    def _json(self) -> list[str]:
        binds = self._compiled.binds
        return [name for name in self._names if isinstance(binds[name].type, JSONB)]


class Statements(Protocol):
    """Runs statements under one caller's row-level security."""

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        """Run one statement; returns its rows. Raises `Unavailable` without a database."""
        ...

    async def after_commit(self, callback: Callback) -> None:
        """Run the callback once the statements before it are committed. It must not raise."""
        ...


class SessionStatements:
    """Runs statements inside the transaction of a unit of work."""

    def __init__(self, session: AsyncSession, after_commit: Callable[[Callback], None]) -> None:
        self._session = session
        self._after_commit = after_commit

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        return (await self._session.execute(statement.query, dict(values))).all()

    async def after_commit(self, callback: Callback) -> None:
        self._after_commit(callback)
