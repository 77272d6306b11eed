"""Fixed statements, and the protocol by which a store runs one.

Owns: `PreparedStatement`, the protocol `Statements`, and its implementation inside a transaction.
The other implementation, `app.store.transactions.autocommit`, runs a statement as its own
transaction.
Promises: both return the same rows for the same statement and values.
"""

from collections import namedtuple
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from psycopg.types.json import Jsonb
from sqlalchemy import CTE, Select, Text, bindparam, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement

from app.current_actor import current_actor

Values = Mapping[str, Any]
Callback = Callable[[], Awaitable[None]]
PROJECT: Final = "app.project"
ACTOR: Final = "app.actor"
"""The setting that the triggers of the audit log read."""
_SETTING_VALUE: Final = "setting_value"
_ACTOR_VALUE: Final = "actor_value"


class Scope:
    """The setting that row-level security reads, as a statement refers to it.

    A statement that runs alone sets the setting itself, in the table expression `opened`. Each
    query that depends on the setting must read `value` and go through `within`: the query then
    waits for the setting, because it is a lateral subquery over its value, and `OFFSET 0` keeps
    the planner from merging the two. One that `acts` also sets the actor of its changes.
    """

    def __init__(self, setting: str, *, opens: bool, acts: bool = False) -> None:
        self._opened: CTE | None = None
        self.value: ColumnElement[str] = func.current_setting(setting, true(), type_=Text())
        if opens:
            value = bindparam(_SETTING_VALUE, type_=Text())
            new_value = func.set_config(setting, value, true(), type_=Text())
            columns = [new_value.label("value")]
            if acts:
                actor = bindparam(_ACTOR_VALUE, type_=Text())
                columns.append(func.set_config(ACTOR, actor, true(), type_=Text()).label("actor"))
            self._opened = select(*columns).cte("opened")
            self.value = self._opened.c.value

    def within(self, query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        """Returns a query that reads its rows under the setting."""
        if self._opened is None:
            return query
        inner = query.correlate(self._opened).offset(literal_column("0")).lateral()
        return select(*inner.c).select_from(self._opened.join(inner, true()))


class PreparedStatement:
    """A statement whose text never changes, so that it is compiled once for each process."""

    def __init__(
        self,
        build: Callable[[Scope], Select[*tuple[Any, ...]]],
        *,
        setting: str = PROJECT,
        acts: bool = False,
    ) -> None:
        """`acts`: the statement changes audited rows."""
        self.setting = setting
        self._build = build
        self._acts = acts

    @cached_property
    def joined(self) -> Select[*tuple[Any, ...]]:
        """Returns the statement for a transaction that has the setting already."""
        return self._build(Scope(self.setting, opens=False))

    @cached_property
    def text(self) -> bytes:
        """Returns the statement that sets the setting itself, with numbered parameters."""
        return str(self._compiled).encode()

    @cached_property
    def make_row(self) -> Callable[[Sequence[Any]], Any]:
        """Returns the constructor of a row, whose fields are the columns: they never change, so
        that no reply is searched for their names.
        """
        columns = self.joined.selected_columns.keys()
        row = namedtuple("Row", columns)  # type: ignore[misc]  # noqa: PYI024 - no literal fields
        return row._make

    def arguments(self, values: Values, setting_value: str) -> list[Any]:
        """Returns the parameters in the order of their numbers. JSON null is stored as SQL NULL."""
        named = {**self._literals, **values, _SETTING_VALUE: setting_value}
        if self._acts:
            actor = current_actor()
            named[_ACTOR_VALUE] = "" if actor is None else actor.text
        for name in self._json:
            if named[name] is not None:
                named[name] = Jsonb(named[name])
        return [named[name] for name in self._names]

    @cached_property
    def _compiled(self) -> SQLCompiler:
        dialect = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]  # the library's constructor has no annotations
        scope = Scope(self.setting, opens=True, acts=self._acts)
        compiled = self._build(scope).compile(dialect=dialect)
        if not isinstance(compiled, SQLCompiler):
            raise TypeError("the compiled statement is not SQL with parameters")
        return compiled

    @cached_property
    def _names(self) -> list[str]:
        return list(self._compiled.positiontup or ())

    @cached_property
    def _literals(self) -> dict[str, Any]:
        """Returns the values that the statement itself contains, by name."""
        return {name: value for name, value in self._compiled.params.items() if value is not None}

    @cached_property
    def _json(self) -> list[str]:
        binds = self._compiled.binds
        return [name for name in self._names if isinstance(binds[name].type, JSONB)]


class Statements(Protocol):
    """Runs statements under one caller's row-level security."""

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        """Runs one statement and returns its rows. Raises `Unavailable` without a database."""
        ...

    async def after_commit(self, callback: Callback) -> None:
        """Runs the callback once the earlier statements are committed. It must not raise."""
        ...


class SessionStatements:
    """Runs statements inside the transaction of a unit of work."""

    def __init__(self, session: AsyncSession, after_commit: Callable[[Callback], None]) -> None:
        self._session = session
        self._after_commit = after_commit

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        return (await self._session.execute(statement.joined, dict(values))).all()

    async def after_commit(self, callback: Callback) -> None:
        self._after_commit(callback)
