"""Every verb from every status: the status that follows, or the refusal."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from app.database import RunUnitOfWork, UnitOfWork
from app.jobs.jobs import JobError, JobStatus, StopRequest
from app.jobs.methods import StoredSupervisedMethod
from app.kit.errors import LeaseLost, WrongState
from tests.support import stack
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.rows import Rows

S = JobStatus
REFUSED = WrongState
Table = dict[str, dict[JobStatus, object]]


def _all(default: object, **moves: JobStatus) -> dict[JobStatus, object]:
    return {status: moves.get(status.value, default) for status in JobStatus}


TENANT_VERBS: dict[str, Callable[[UnitOfWork, str], Awaitable[Any]]] = {
    "cancel": lambda unit, job: unit.jobs.request_stop(job, StopRequest.CANCEL),
    "pause": lambda unit, job: unit.jobs.request_stop(job, StopRequest.PAUSE),
    "resume": lambda unit, job: unit.jobs.mark_queued(job),
}
CANCELS = _all(
    REFUSED,
    validating_files=S.CANCELLED,
    queued=S.CANCELLED,
    running=S.CANCELLED,
    pausing=S.CANCELLED,
    paused=S.CANCELLED,
)
RESUMES = _all(REFUSED, paused=S.QUEUED)
UNHELD = {
    "cancel": CANCELS,
    "pause": _all(REFUSED, validating_files=S.PAUSED, queued=S.PAUSED, running=S.PAUSED),
    "resume": RESUMES,
}
HELD = {
    "cancel": CANCELS,
    # Before the job runs no status expresses it; the run reads the request instead.
    "pause": _all(REFUSED, validating_files=S.VALIDATING_FILES, queued=S.QUEUED, running=S.PAUSING),
    "resume": RESUMES,
}
RUN_VERBS: dict[str, Callable[[RunUnitOfWork], Awaitable[Any]]] = {
    "validated": lambda unit: unit.jobs.mark_validated(
        1, StoredSupervisedMethod({"type": "supervised"})
    ),
    "running": lambda unit: unit.jobs.mark_running(),
    "succeeded": lambda unit: unit.jobs.mark_succeeded("ft:x"),
    "failed": lambda unit: unit.jobs.mark_failed(JobError("a", "b", None)),
    "paused": lambda unit: unit.jobs.mark_paused(),
}
OF_RUN: Table = {
    "validated": {
        S.VALIDATING_FILES: S.QUEUED,
        S.QUEUED: S.QUEUED,
        S.RUNNING: S.RUNNING,
        S.PAUSING: S.PAUSING,
    },
    "running": {
        S.VALIDATING_FILES: S.VALIDATING_FILES,
        S.QUEUED: S.RUNNING,
        S.RUNNING: S.RUNNING,
        S.PAUSING: S.PAUSING,
    },
    "succeeded": {
        S.VALIDATING_FILES: REFUSED,
        S.QUEUED: REFUSED,
        S.RUNNING: S.SUCCEEDED,
        S.PAUSING: S.SUCCEEDED,
    },
    "failed": dict.fromkeys((S.VALIDATING_FILES, S.QUEUED, S.RUNNING, S.PAUSING), S.FAILED),
    "paused": dict.fromkeys((S.VALIDATING_FILES, S.QUEUED, S.RUNNING, S.PAUSING), S.PAUSED),
}


def _put(database: stack.Database, job_id: str, status: JobStatus, *, lease: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET status = %s, stop_request = NULL, fence = 1,"
            " lease_until = now() + %s::interval WHERE id = %s",
            (status.value, lease, job_id),
        )


async def _status(rows: Rows, job_id: str) -> JobStatus:
    async with rows.app.tenant(rows.first) as unit:
        return (await unit.jobs.get(job_id)).status


async def _outcome(rows: Rows, job_id: str, verb: Awaitable[Any]) -> object:
    """Returns the status that follows, or the error of a refusal that changes no status."""
    before = await _status(rows, job_id)
    try:
        await verb
    except (WrongState, LeaseLost) as error:
        refusal: Exception | None = error
    else:
        refusal = None
    after = await _status(rows, job_id)
    if refusal is None:
        return after
    assert after is before
    if isinstance(refusal, WrongState):
        assert before.value in str(refusal)
    return type(refusal)


@pytest.mark.parametrize(("lease", "table"), [("-1 s", UNHELD), ("60 s", HELD)])
async def test_verbs_of_a_tenant_by_state(
    rows: Rows, database: stack.Database, lease: str, table: Table
) -> None:
    job = await rows.job()

    async def attempt(verb: str) -> None:
        async with rows.app.tenant(rows.first) as unit:
            await TENANT_VERBS[verb](unit, job.id)

    found: Table = {}
    for verb in TENANT_VERBS:
        for status in JobStatus:
            _put(database, job.id, status, lease=lease)
            found.setdefault(verb, {})[status] = await _outcome(rows, job.id, attempt(verb))
    assert found == table


async def test_verbs_of_a_run_by_state(rows: Rows, database: stack.Database) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)

    async def attempt(verb: str) -> None:
        async with run_unit(rows, claimed) as unit:
            await RUN_VERBS[verb](unit)

    found: Table = {}
    for verb in RUN_VERBS:
        for status in JobStatus:
            _put(database, job.id, status, lease="60 s")
            found.setdefault(verb, {})[status] = await _outcome(rows, job.id, attempt(verb))
    ended = dict.fromkeys((S.SUCCEEDED, S.FAILED, S.CANCELLED, S.PAUSED), LeaseLost)
    assert found == {verb: {**outcomes, **ended} for verb, outcomes in OF_RUN.items()}
