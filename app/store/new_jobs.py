"""A new job with what begins with it, its eval and its first event, in one statement.

Three inserts and a lock would be four round trips of the busiest write. Foreign keys are looked at
when the statement ends, so the children find their job.
"""

from functools import cache
from typing import Any, cast

from sqlalchemy import CTE, Executable, bindparam, insert, inspect, select, true
from sqlalchemy import Table as CoreTable
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import AuthenticationFailed
from app.domain.keys import NO_PROJECT, PROJECT_ARCHIVED
from app.store.schema.evals import EvalTable
from app.store.schema.events import JobEventTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable
from app.store.schema.projects import ProjectTable

Values = dict[str, Any]
_JOBS = cast("CoreTable", FineTuningJobTable.__table__)
_EVALS = cast("CoreTable", EvalTable.__table__)
_EVENTS = cast("CoreTable", JobEventTable.__table__)
SHOWN = [
    _JOBS.c[one.columns[0].name].label(one.key)
    for one in inspect(FineTuningJobTable).column_attrs
    if one.key != "secrets"
]
"""The attributes of a row, without an object that is watched for changes: half a read's time."""


async def insert_job(
    session: AsyncSession, job: Values, evaluated: Values | None, told: Values | None
) -> Any:
    """Rows by column. Returns the job's as stored.

    Archiving the project waits for whoever holds its row, and then ends what they began. Raises
    `AuthenticationFailed` in an archived one, as for its keys.
    """
    parts = {"job": job, "eval": evaluated, "event": told}
    present = {name: part for name, part in parts.items() if part is not None}
    statement = _statement(tuple((name, *part) for name, part in present.items()))
    values = {
        f"{name}_{column}": value
        for name, part in present.items()
        for column, value in part.items()
    }
    row = (await session.execute(statement, values)).one()
    if row.project_archived_at is not None:
        raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
    return row


@cache
def _statement(parts: tuple[tuple[str, ...], ...]) -> Executable:
    """Built once for each set of columns, of which there are a few."""
    tables = {"job": _JOBS, "eval": _EVALS, "event": _EVENTS}
    job, *children = [_part(name, tables[name], columns) for name, *columns in parts]
    held = (
        select(ProjectTable.archived_at.label("project_archived_at"))
        .where(ProjectTable.id == bindparam("job_project_id"))
        .with_for_update(read=True, key_share=True)
        .cte("held")
    )
    whole = job.join(held, true())
    return select(job, held.c.project_archived_at).select_from(whole).add_cte(*children)


def _part(name: str, table: CoreTable, columns: list[str]) -> CTE:
    values = {
        column: bindparam(f"{name}_{column}", type_=table.c[column].type) for column in columns
    }
    made = insert(table).values(values)
    return (made.returning(*SHOWN) if name == "job" else made).cte(f"new_{name}")
