import asyncio
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError, ProgrammingError

from app.accounts.accounts import (
    ApiKeyRow,
    KeyKind,
    ServiceAccount,
    ServiceAccountRole,
    SessionKind,
    StoredSession,
)
from app.database import Database, UnboundRoleError
from app.files.files import UploadPartRow, UploadRow
from app.jobs.jobs import Job
from app.jobs.rows import job_row
from app.jobs.tables import FineTuningJobTable
from app.kit.callers import Actor, Tenant, act_as
from app.kit.errors import AuthenticationFailed, LeaseLost, Unavailable
from app.kit.http import HttpResponse
from app.tables import Base
from app.tools.registry import Noun, RegisteredVersion
from tests.support import stack
from tests.support.patience import PATIENCE_S
from tests.support.store import evals, webhook_events
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.exports import an_export
from tests.support.store.feedback import insert_feedback
from tests.support.store.fenced_writes import WRITES
from tests.support.store.new_jobs import CREATED, insert_job_in
from tests.support.store.rows import Rows, a_job, a_usage, owner_of
from tests.support.store.students import insert_student


def a_key(row_id: str, tenant: Tenant) -> ApiKeyRow:
    return ApiKeyRow(
        id=row_id,
        organization_id=tenant.organization_id,
        project_id=tenant.project_id,
        kind=KeyKind.PROJECT,
        name="k",
        key_id=f"look_{row_id}",
        secret_hmac=b"\x00",
        last4="1234",
        created_at=0,
    )


def an_account(tenant: Tenant) -> ServiceAccount:
    return ServiceAccount(
        id="svc_acct_1",
        project_id=tenant.project_id,
        name="ci",
        role=ServiceAccountRole.MEMBER,
        created_at=0,
    )


def a_tool() -> RegisteredVersion:
    return RegisteredVersion(
        id="tool_1",
        noun=Noun.TOOL,
        version=1,
        name="search",
        definition={"name": "search"},
        metadata=None,
        created_at=0,
        updated_at=0,
    )


def an_upload(tenant: Tenant) -> UploadRow:
    return UploadRow(
        id="upload_1",
        project_id=tenant.project_id,
        filename="f",
        purpose="fine-tune",
        mime_type="text/plain",
        bytes=1,
        status="pending",
        created_at=0,
        expires_at=2**31 - 1,
        file_expires_after_s=None,
        file_id=None,
        part_ids=(),
    )


async def test_writing_for_another_tenant_is_refused_by_the_database(rows: Rows) -> None:
    stolen = a_job(rows.second)
    with pytest.raises(ProgrammingError, match="row-level security"):
        async with rows.app.tenant(rows.first) as unit:
            await unit.jobs._session.execute(
                insert(FineTuningJobTable).values(job_row(stolen, None))
            )
    # The store's statement fails at its lock on the project, which row-level security hides.
    with pytest.raises(AuthenticationFailed):
        async with rows.app.tenant(rows.first) as unit:
            await insert_job_in(unit, stolen)


async def _fill_every_table(rows: Rows) -> Job:
    """Inserts a row of the first tenant into each table."""
    job, tenant = await rows.job(), rows.first
    async with rows.app.organization(tenant.organization_id) as unit:
        await unit.keys.insert(a_key("key_1", tenant))
        await unit.service_accounts.insert(
            an_account(tenant), organization_id=tenant.organization_id
        )
    async with rows.app.request(tenant) as unit:
        await unit.stored_responses.put("k", b"f", HttpResponse(200, "text/plain", b""))
    async with rows.app.tenant(tenant) as unit:
        await unit.registry.insert(a_tool())
        await unit.dashboard_sessions.insert(
            StoredSession(
                "session_1", SessionKind.SESSION, tenant.project_id, "look", expires_at=2**31 - 1
            )
        )
        await unit.uploads.insert(an_upload(tenant))
        await unit.uploads.insert_part(UploadPartRow("part_1", "upload_1", 1, 0))
        await unit.exports.insert(an_export())
        await unit.usage.insert([a_usage()], **owner_of(tenant))
        await insert_feedback(unit)
        await insert_student(unit, tenant, job.id)
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        for verb in WRITES:
            if not verb.startswith(("jobs.", "journal.forget", "models.mark_deleted")):
                await WRITES[verb](run, job.id)
    await evals.fill(rows, job.id)
    await webhook_events.an_endpoint(rows)
    await webhook_events.cancel(rows, await rows.job())
    await webhook_events.fan_out(rows)
    return job


def _counts(url: str, tables: list[str], **settings: str) -> dict[str, int]:
    """Returns the number of rows that a role sees in each table under these settings."""
    counts = {}
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, true)", (f"app.{name}", value))
        for table in tables:
            may = connection.execute("SELECT has_table_privilege(%s, 'SELECT')", (table,))
            if may.fetchone() == (True,):
                (counts[table],) = connection.execute(
                    f"SELECT count(*) FROM {table}".encode()
                ).fetchone() or (-1,)
    return counts


async def test_each_role_sees_what_its_setting_names_and_else_nothing(
    rows: Rows, database: stack.Database
) -> None:
    act_as(Actor("api_key", "key_x"))
    await rows.job()
    act_as(None)
    await _fill_every_table(rows)
    tables = sorted(Base.metadata.tables)
    assert all(count > 0 for count in _counts(database.superuser_url, tables).values())
    settings: dict[str, dict[str, str]] = {
        "none": {},
        "own": {"project": rows.first.project_id},
        "other": {"project": rows.second.project_id},
        "system": {"system": "on"},
        "key": {"key_id": "look_key_1"},
        "session": {"dashboard_session": "session_1"},
    }
    seen = {
        (role, name): {table for table, count in _counts(url, tables, **setting).items() if count}
        for role, url in (("app", database.app_url), ("worker", database.worker_url))
        for name, setting in settings.items()
    }
    of_job = set(tables) - {"organizations", "projects", "api_keys", "service_accounts"}
    of_job -= {"event_cursors", "organization_virtual_times", "audit_logs"}
    assert seen == {
        ("app", "none"): set(),
        ("app", "own"): of_job - {"journal", "event_log"} | {"projects"},
        ("app", "other"): {"projects"},
        ("app", "system"): set(),
        ("app", "key"): {"api_keys"},
        ("worker", "none"): set(),
        ("worker", "own"): of_job
        - {"registered_objects", "registered_versions", "upload_parts", "usage_records"}
        - {"stored_completions", "feedback", "feedback_builds", "coach_sessions", "coach_entries"},
        ("worker", "other"): set(),
        ("worker", "system"): {
            *("fine_tuning_jobs", "eval_runs", "files", "uploads", "stored_responses"),
            *("webhook_events", "webhook_deliveries", "event_log", "event_cursors"),
            *("model_exports", "dashboard_sessions", "organizations", "organization_virtual_times"),
        },
        ("worker", "key"): set(),
        ("app", "session"): {"dashboard_sessions"},
        ("worker", "session"): {"dashboard_sessions"},
    }


async def test_a_key_reaches_only_projects_of_its_organization(rows: Rows) -> None:
    """The foreign key must refuse it, because it is not subject to row-level security."""
    stolen = replace(a_key("key_1", rows.first), project_id=rows.second.project_id)
    with pytest.raises(IntegrityError, match="fk_api_keys_organization_id_project_id"):
        async with rows.app.organization(rows.first.organization_id) as unit:
            await unit.keys.insert(stolen)


async def test_a_project_key_has_a_project_and_an_admin_key_none(rows: Rows) -> None:
    for kind, project_id in ((KeyKind.ADMIN, rows.first.project_id), (KeyKind.PROJECT, None)):
        odd = replace(a_key("key_1", rows.first), kind=kind, project_id=project_id)
        with pytest.raises(IntegrityError, match="admin_has_no_project"):
            async with rows.app.organization(rows.first.organization_id) as unit:
                await unit.keys.insert(odd)


async def test_a_run_cannot_write_for_a_job_of_another_project(rows: Rows) -> None:
    mine, theirs = await rows.job(rows.first), await rows.job(rows.second)
    claimed = await claimed_rows(rows, mine)
    with pytest.raises(IntegrityError, match="fk_job_events_project_id_job_id"):
        async with run_unit(rows, claimed) as run:
            await run.events.append(theirs.id, message="m")
    with pytest.raises(LeaseLost):
        async with rows.worker.run(rows.second.project_id, mine.id, claimed.fence):
            pass


async def test_a_role_that_sees_everything_is_refused(rows: Rows, database: stack.Database) -> None:
    strong = Database(database.superuser_url, pool_size=1)
    with pytest.raises(UnboundRoleError, match="superuser"):
        async with strong.tenant(rows.first):
            pass
    with pytest.raises(UnboundRoleError):
        await strong.ping()
    await strong.dispose()


async def test_a_cancelled_request_gives_its_connection_back(rows: Rows) -> None:
    job = await rows.job()
    for _ in range(5):
        entered = asyncio.Event()

        async def stay(entered: asyncio.Event = entered) -> None:
            async with rows.app.tenant(rows.first) as unit:
                await unit.events.append(job.id, message="lost")
                entered.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(stay())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with asyncio.timeout(PATIENCE_S), rows.app.tenant(rows.first) as unit:
        events, more = await unit.events.page(job.id, after=None, limit=9)
    assert ([event.message for event in events], more) == ([CREATED], False)


async def test_the_api_role_may_not_write_results(rows: Rows) -> None:
    job = await rows.job()
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with rows.app.tenant(rows.first) as unit:
            await unit.reports.upsert(job.id, {})


async def test_a_lost_server_is_unavailable(rows: Rows, database: stack.Database) -> None:
    gone = Database(database.app_url.replace("127.0.0.1:", "127.0.0.1:1"), pool_size=1)
    with pytest.raises(Unavailable):
        async with gone.tenant(rows.first) as unit:
            await unit.jobs.get("x")
    with pytest.raises(Unavailable):
        await gone.ping()
    await gone.dispose()
