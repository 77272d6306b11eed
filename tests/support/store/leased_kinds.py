"""Four kinds of leased rows: jobs, eval runs, exports of models, and a table that has nothing but
the mixin and the order of its queue.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import psycopg
from sqlalchemy import MetaData, PrimaryKeyConstraint, Text, update
from sqlalchemy.dialects.postgresql import dialect
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.schema import CreateTable
from typing_extensions import override

from app.across_tenants import ClaimUnitOfWork, CrossTenantUnitOfWork
from app.database import Database
from app.evals.claims import ClaimableEvalRuns, eval_claims
from app.jobs.claims import ClaimableJobs, job_claims
from app.kit.ids import new_id
from app.kit.leases import Lease, QueuedRow, QueuedRows, lock_held
from app.models import export_claims as export_leases
from tests.support import stack
from tests.support.store.evals import a_run
from tests.support.store.exports import an_export
from tests.support.store.rows import Rows

WORKER_ROLE = "agent_rft_worker"


class _TestTables(DeclarativeBase):
    metadata = MetaData()
    type_annotation_map: ClassVar[dict[type, type[Text]]] = {str: Text}


class ExportTable(QueuedRow, _TestTables):
    __tablename__ = "exports"
    __table_args__ = (PrimaryKeyConstraint("project_id", "id"),)


class ClaimableTestExports(QueuedRows):
    table: ClassVar[type[ExportTable]] = ExportTable
    limit_column = "max_running_eval_runs"
    open_states = ("waiting",)
    end_states = ("failed",)

    @override
    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        await self._session.execute(
            update(ExportTable).where(ExportTable.id == lease.id).values(status="failed")
        )


def export_claims(database: Database) -> ClaimUnitOfWork[ClaimableTestExports]:
    return ClaimUnitOfWork(database, ClaimableTestExports)


@dataclass(frozen=True, slots=True)
class LeasedKind:
    table: str
    rows: type[QueuedRows]
    claims: Callable[[Database], ClaimUnitOfWork[QueuedRows]]
    insert: Callable[[Rows, stack.Database], Awaitable[str]]


class HeldRow(CrossTenantUnitOfWork):
    """A transaction that holds a row of a kind at the fence of a lease."""

    def __init__(self, database: Database, kind: LeasedKind, lease: Lease) -> None:
        super().__init__(database)
        self._kind = kind
        self._lease = lease

    @override
    async def _open(self, session: AsyncSession) -> None:
        rows = self._kind.rows
        await lock_held(session, rows.table, self._lease, states=rows.open_states)


async def _insert_job(rows: Rows, _: stack.Database) -> str:
    return (await rows.job()).id


async def _insert_run(rows: Rows, _: stack.Database) -> str:
    return (await a_run(rows)).id


async def _insert_model_export(rows: Rows, _: stack.Database) -> str:
    export = an_export()
    async with rows.app.tenant(rows.first) as unit:
        await unit.exports.insert(export)
    return export.id


async def _insert_export(rows: Rows, database: stack.Database) -> str:
    """Creates the table with the first row, under the policies of every leased table."""
    row_id = new_id("export_")
    create = str(CreateTable(_TestTables.metadata.tables["exports"]).compile(dialect=dialect()))  # type: ignore[no-untyped-call]  # the constructor has no annotations
    with connect(database) as connection:
        if connection.execute("SELECT to_regclass('exports')").fetchone() == (None,):
            connection.execute(create.encode())
            connection.execute("ALTER TABLE exports ENABLE ROW LEVEL SECURITY")
            connection.execute(
                f"CREATE POLICY system ON exports TO {WORKER_ROLE}"
                " USING (current_setting('app.system', true) = 'on')".encode()
            )
            connection.execute(
                "CREATE POLICY tenant ON exports TO agent_rft_app"
                " USING (project_id = current_setting('app.project', true))"
            )
            connection.execute("GRANT SELECT, UPDATE ON exports TO agent_rft_worker, agent_rft_app")
            _create_queue(connection)
        connection.execute(
            "INSERT INTO exports (id, project_id, status) VALUES (%s, %s, 'waiting')",
            (row_id, rows.first.project_id),
        )
    return row_id


def _create_queue(connection: psycopg.Connection) -> None:
    """Orders exports as eval runs are ordered."""
    order = connection.execute("SELECT pg_get_functiondef('queue_of_eval_runs'::regproc)")
    [definition] = order.fetchone() or ("",)
    statuses = "'queued', 'in_progress'"
    assert statuses in definition
    copied = definition.replace("eval_runs", "exports").replace(statuses, "'waiting'")
    connection.execute(copied.encode())
    connection.execute("REVOKE ALL ON FUNCTION queue_of_exports FROM PUBLIC")
    connection.execute(f"GRANT EXECUTE ON FUNCTION queue_of_exports TO {WORKER_ROLE}".encode())


def connect(database: stack.Database) -> psycopg.Connection:
    return psycopg.connect(database.superuser_url.replace("+psycopg", ""))


KINDS = {
    "jobs": LeasedKind("fine_tuning_jobs", ClaimableJobs, job_claims, _insert_job),
    "eval runs": LeasedKind("eval_runs", ClaimableEvalRuns, eval_claims, _insert_run),
    "exports of models": LeasedKind(
        "model_exports",
        export_leases.ClaimableExports,
        export_leases.export_claims,
        _insert_model_export,
    ),
    "a table with the mixin": LeasedKind(
        "exports", ClaimableTestExports, export_claims, _insert_export
    ),
}
