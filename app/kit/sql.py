"""Parts of all tables and stores: column shorthands, prepared statements, pages of lists."""

import math
from collections import namedtuple
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any, Final, Protocol, TypeVar, cast

from psycopg.types.json import Jsonb
from sqlalchemy import (
    CTE,
    DateTime,
    ForeignKeyConstraint,
    MetaData,
    Select,
    Text,
    bindparam,
    func,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement

from app.kit.callers import current_actor
from app.kit.faults import unknown_cursor
from app.kit.texts import storable as storable_text

Id = Annotated[str, mapped_column(Text, primary_key=True)]
Timestamp = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Now = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=func.now())]
JsonColumn = Annotated[dict[str, Any], mapped_column(JSONB)]


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Text}  # noqa: RUF012 - read by SQLAlchemy as it is


def of_job() -> ForeignKeyConstraint:
    """Includes the project, so that a row cannot refer to another tenant's job."""
    return ForeignKeyConstraint(
        ["project_id", "job_id"],
        ["fine_tuning_jobs.project_id", "fine_tuning_jobs.id"],
        ondelete="CASCADE",
    )


def of_project() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project_id"], ["projects.id"])


def of_own_project() -> ForeignKeyConstraint:
    """Both columns are needed: row-level security checks one of them, and no foreign keys."""
    return ForeignKeyConstraint(
        ["organization_id", "project_id"], ["projects.organization_id", "projects.id"]
    )


def unix(moment: datetime) -> int:
    return int(moment.timestamp())


def unix_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else unix(moment)


class SessionRows:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session


class ProjectRows:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id


Value = TypeVar("Value")


def from_row(kind: type[Value], row: object, /, **given: Any) -> Value:
    """Reads each field that is not given from the column of its name, times in Unix seconds."""
    names = {each.name for each in fields(cast("Any", kind))} - given.keys()
    read = {name: getattr(row, name) for name in names if hasattr(row, name)}
    times = {name: unix(each) for name, each in read.items() if isinstance(each, datetime)}
    return kind(**read | times | given)


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def moment_or_none(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment(seconds)


def storable(value: Any) -> Any:
    """Returns the JSON value with unstorable characters and numbers replaced, also in keys."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable(key): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


Values = Mapping[str, Any]
Callback = Callable[[], Awaitable[None]]
PROJECT: Final = "app.project"
ACTOR: Final = "app.actor"
"""The setting that the triggers of the audit log read."""


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
            value = bindparam("setting_value", type_=Text())
            new_value = func.set_config(setting, value, true(), type_=Text())
            columns = [new_value.label("value")]
            if acts:
                actor = bindparam("actor_value", type_=Text())
                columns.append(func.set_config(ACTOR, actor, true(), type_=Text()).label("actor"))
            self._opened = select(*columns).cte("opened")
            self.value = self._opened.c.value

    def within(self, query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        if self._opened is None:
            return query
        inner = query.correlate(self._opened).offset(literal_column("0")).lateral()
        return select(*inner.c).select_from(self._opened.join(inner, true()))


class PreparedStatement:
    def __init__(
        self,
        build: Callable[[Scope], Select[*tuple[Any, ...]]],
        *,
        setting: str = PROJECT,
        acts: bool = False,
    ) -> None:
        self.setting, self._build, self._acts = setting, build, acts

    @cached_property
    def joined(self) -> Select[*tuple[Any, ...]]:
        return self._build(Scope(self.setting, opens=False))

    @cached_property
    def text(self) -> bytes:
        return str(self._compiled).encode()

    @cached_property
    def make_row(self) -> Callable[[Sequence[Any]], Any]:
        """Returns the constructor of a row, so that no reply is searched for names of columns."""
        columns = self.joined.selected_columns.keys()
        row = namedtuple("Row", columns)  # type: ignore[misc]  # noqa: PYI024 - no literal fields
        return row._make

    def arguments(self, values: Values, setting_value: str) -> list[Any]:
        """Returns the parameters in the order of their numbers. JSON null is stored as SQL NULL."""
        named = {**self._literals, **values, "setting_value": setting_value}
        if self._acts:
            actor = current_actor()
            named["actor_value"] = "" if actor is None else actor.text
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
        return {name: value for name, value in self._compiled.params.items() if value is not None}

    @cached_property
    def _json(self) -> list[str]:
        binds = self._compiled.binds
        return [name for name in self._names if isinstance(binds[name].type, JSONB)]


class Statements(Protocol):
    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]: ...

    async def after_commit(self, callback: Callback) -> None:
        """Runs the callback once the earlier statements are committed. It must not raise."""
        ...


class SessionStatements:
    def __init__(self, session: AsyncSession, after_commit: Callable[[Callback], None]) -> None:
        self._session, self._after_commit = session, after_commit

    async def rows(self, statement: PreparedStatement, values: Values) -> Sequence[Any]:
        return (await self._session.execute(statement.joined, dict(values))).all()

    async def after_commit(self, callback: Callback) -> None:
        self._after_commit(callback)


Row = TypeVar("Row")
MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a page at most: a hundred rows of 4 MB would take a gigabyte of memory."""


@dataclass(frozen=True, slots=True)
class Keyset:
    """The order of a listing: columns that are unique together, all in one direction."""

    columns: tuple[Any, ...]
    descending: bool = False

    async def page(
        self,
        session: AsyncSession,
        query: Select[Row],
        *,
        after: str | None,
        cursor: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> tuple[list[Row], bool]:
        query = await self.start_after(session, query, after=after, cursor=cursor)
        return cut((await session.scalars(query.limit(limit + 1))).all(), limit)

    async def start_after(
        self,
        session: AsyncSession,
        query: Select[*tuple[Any, ...]],
        *,
        after: str | None,
        cursor: Sequence[ColumnElement[bool]],
    ) -> Any:
        """Restricts a query to rows after the row `after`, which meets `cursor` and the listing may
        leave out. Raises `InvalidRequest` when no row meets it.
        """
        if after is not None:
            last_row = (await session.execute(select(*self.columns).where(*cursor))).one_or_none()
            if last_row is None:
                raise unknown_cursor(after)
            position = tuple_(*self.columns)
            query = query.where(
                position < tuple_(*last_row) if self.descending else position > tuple_(*last_row)
            )
        return query.order_by(
            *(column.desc() if self.descending else column for column in self.columns)
        )


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], bool]:
    return list(rows[:limit]), len(rows) > limit


def fitting(sizes: Sequence[int], limit: int) -> int:
    """Returns the number of rows of these sizes in bytes that fit a page: from 1 to `limit`."""
    sizes = sizes[:limit]
    return max(sum(total <= MAX_PAGE_BYTES for total in accumulate(sizes)), min(1, len(sizes)))
