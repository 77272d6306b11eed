"""A new job with what begins with it, its eval and its first event, in one statement.

Its files and its project are looked at in the same statement, and nothing is written unless they
will do: four round trips and a transaction less on the busiest write. Foreign keys are looked at
when the statement ends, so the children find their job.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from psycopg import AsyncConnection as DriverConnection
from psycopg import AsyncRawCursor
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb
from sqlalchemy import (
    CTE,
    BigInteger,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    func,
    insert,
    inspect,
    literal_column,
    select,
    true,
)
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.keys import NO_PROJECT, PROJECT_ARCHIVED
from app.domain.errors import AuthenticationFailed
from app.store.files.files import UNEXPIRED
from app.store.schema.evals import EvalTable
from app.store.schema.events import JobEventTable
from app.store.schema.files import FileTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable
from app.store.schema.projects import ProjectTable

Values = dict[str, Any]
PURPOSE: Final = "fine-tune"
"""Of every file that a job reads."""
_JOBS = cast("CoreTable", FineTuningJobTable.__table__)
_TABLES = {
    "job": _JOBS,
    "eval": cast("CoreTable", EvalTable.__table__),
    "event": cast("CoreTable", JobEventTable.__table__),
}
SHOWN = [
    _JOBS.c[one.columns[0].name].label(one.key)
    for one in inspect(FineTuningJobTable).column_attrs
    if one.key != "secrets"
]
"""The attributes of a row, without an object that is watched for changes: half a read's time."""


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows by column."""

    job: Values
    evaluated: Values | None = None
    told: Values | None = None
    files: Sequence[str] = ()
    """Ids of files that have to be there, for fine-tuning."""

    def parts(self) -> dict[str, Values]:
        sent = {"job": self.job, "eval": self.evaluated, "event": self.told}
        return {name: part for name, part in sent.items() if part is not None}


@dataclass(frozen=True, slots=True)
class Admitted:
    row: Any | None
    """The job's as stored; `None` when a file will not do, and nothing was written."""
    purposes: dict[str, str]
    """Of the files that are there, by id."""


async def insert_job(session: AsyncSession, rows: NewRows) -> Admitted:
    """In the session's own transaction and under its settings.

    Archiving the project waits for whoever holds its row, and then ends what they began. Raises
    `AuthenticationFailed` in an archived one, as for its keys, and in one that is out of sight.
    """
    found = await session.execute(_statement(_columns(rows), opens=False), _flat(rows))
    return _admitted(found.one_or_none())


async def insert_job_alone(driver: DriverConnection[Any], rows: NewRows) -> Admitted:
    """As `insert_job`, on a connection that is in no transaction: the statement is one, and sets
    the project that row-level security reads, as in `app.store.jobs.look_ups`.
    """
    # Raw: the driver would look for its placeholders in so long a statement each time.
    cursor = AsyncRawCursor(driver, row_factory=namedtuple_row)
    statement, names, literals = _text(_columns(rows))
    values = {**literals, **_sent(rows)}
    await cursor.execute(statement, [values[name] for name in names], prepare=True)
    return _admitted(await cursor.fetchone())


def _admitted(row: Any) -> Admitted:
    if row is None or row.project_archived_at is not None:
        raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
    return Admitted(None if row.id is None else row, row.purposes)


def _columns(rows: NewRows) -> tuple[tuple[str, ...], ...]:
    return tuple((name, *part) for name, part in rows.parts().items())


def _flat(rows: NewRows) -> Values:
    values = {
        f"{name}_{column}": value
        for name, part in rows.parts().items()
        for column, value in part.items()
    }
    wanted = sorted(set(rows.files))
    return {**values, "files": wanted, "files_count": len(wanted)}


def _sent(rows: NewRows) -> Values:
    """For the driver, which knows no columns. In every jsonb column of ours, `None` is NULL."""
    flat = _flat(rows)
    for name, part in rows.parts().items():
        for column, value in part.items():
            if value is not None and isinstance(_TABLES[name].c[column].type, JSONB):
                flat[f"{name}_{column}"] = Jsonb(value)
    return flat


@cache
def _text(parts: tuple[tuple[str, ...], ...]) -> tuple[bytes, list[str], Values]:
    """The statement for the driver, its values' names in order, and those known already."""
    dialect = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]  # as it is
    compiled = _statement(parts, opens=True).compile(dialect=dialect)
    literals = {name: value for name, value in compiled.params.items() if value is not None}
    return str(compiled).encode(), list(compiled.positiontup or ()), literals


@cache
def _statement(parts: tuple[tuple[str, ...], ...], *, opens: bool) -> Select[Any]:
    """Built once for each set of columns, of which there are a few."""
    held, files = _looked_at(opens=opens)
    wanted = bindparam("files_count", type_=BigInteger())
    fine = and_(held.c.project_archived_at.is_(None), files.c.fit == wanted)
    gate = held.join(files, true())
    made: list[CTE] = []
    for name, *columns in parts:
        source = _bound(name, columns)
        # A child comes if its job comes.
        source = source.select_from(made[0] if made else gate)
        if not made:
            source = source.where(fine)
        new = insert(_TABLES[name]).from_select(columns, source)
        made.append((new.returning(*SHOWN) if not made else new).cte(f"new_{name}"))
    job, *children = made
    whole = gate.outerjoin(job, true())
    shown = select(job, held.c.project_archived_at, files.c.purposes).select_from(whole)
    return shown.add_cte(*children)


def _bound(name: str, columns: list[str]) -> Select[Any]:
    table = _TABLES[name]
    return select(
        *(bindparam(f"{name}_{column}", type_=table.c[column].type) for column in columns)
    )


def _looked_at(*, opens: bool) -> tuple[CTE, CTE]:
    """The project, held until the end, and how many of the files will do."""
    project: Any = bindparam("job_project_id", type_=Text())
    opened: CTE | None = None
    if opens:
        setting = func.set_config("app.project", project, true())
        opened = select(setting.label("value")).cte("opened")
        project = opened.c.value
    held = (
        select(ProjectTable.archived_at.label("project_archived_at"))
        .where(ProjectTable.id == project)
        .with_for_update(read=True, key_share=True)
    )
    fit = FileTable.purpose == PURPOSE
    files = select(
        func.count().filter(fit).label("fit"),
        func.coalesce(
            func.jsonb_object_agg(FileTable.id, FileTable.purpose), literal_column("'{}'::jsonb")
        ).label("purposes"),
    ).where(
        FileTable.project_id == project,
        FileTable.id == func.any(bindparam("files", type_=ARRAY(Text))),
        FileTable.deleted_at.is_(None),
        UNEXPIRED,
    )
    return _after(opened, held, "held"), _after(opened, files, "looked_at")


def _after(opened: FromClause | None, query: Select[*tuple[Any, ...]], name: str) -> CTE:
    """A query that waits for the setting, since it waits for its value."""
    if opened is None:
        return query.cte(name)
    inner = query.correlate(opened).offset(literal_column("0")).lateral(f"{name}_inner")
    return select(*inner.c).select_from(opened.join(inner, true())).cte(name)
