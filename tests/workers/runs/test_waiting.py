"""A run that waits for its endpoints alone gives its worker back, and loses nothing."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from typing_extensions import override

from app.jobs.claims import ClaimableJobs, job_claims
from app.jobs.jobs import Job, JobStatus
from app.jobs.run_store import MOST_PUT_BACKS
from app.kit.egress import EgressReply, EgressRequest
from tests.support import stack
from tests.support.egress.timed_egress import down
from tests.support.patience import PATIENCE_S, until
from tests.support.runs.real_run import RealRuns, Script
from tests.support.store.leased_kinds import connect
from tests.support.store.new_jobs import insert_job
from tests.support.store.tenants import insert_tenant
from tests.support.twins import InMemoryEgress
from workers.job_child import job_run
from workers.runs import job as job_module

POLL_S = 1.25
"""Seconds of a poll; no pause of an endpoint's breaker is as long."""


@dataclass
class Hanging(InMemoryEgress):
    """Answers `answers` calls; the others wait until it is released."""

    answers: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    async def send(self, request: EgressRequest) -> EgressReply:
        if len(self.sent) >= self.answers:
            await self.released.wait()
        return await super().send(request)


async def _run(runs: RealRuns, job: Job, egress: InMemoryEgress) -> Job:
    """Runs one claim with a limit so short that only a hanging call reaches it."""
    settings = runs.world.settings
    limits = settings.runs.model_copy(update={"waiting_limit_s": 0.5})
    retries = settings.egress.model_copy(update={"max_retries": 10})
    async with runs.context(job, Script()) as context:
        short = settings.model_copy(update={"runs": limits, "egress": retries})
        hanging = replace(context, egress=egress, settings=short)
        await asyncio.wait_for(job_run(hanging).run(), PATIENCE_S)
    return await runs.world.read(job)


async def _another_projects_job(runs: RealRuns) -> Job:
    tenant = await insert_tenant(runs.world.app, "neighbour")
    job = replace(
        await runs.world.job(),
        id="ftjob-neighbour",
        project_id=tenant.project_id,
        organization_id=tenant.organization_id,
    )
    await insert_job(runs.world.app, tenant, job)
    return job


def _end_wait(database: stack.Database, job: Job) -> None:
    with connect(database) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET not_before = now() WHERE id = %s", (job.id,)
        )


def _cancel_all_but(database: stack.Database, *jobs: Job) -> None:
    with connect(database) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET status = 'cancelled' WHERE id <> ALL (%s)",
            ([job.id for job in jobs],),
        )


async def _claim_next(runs: RealRuns) -> str | None:
    async with job_claims(runs.world.worker) as unit:
        lease = await unit.leases.claim_next("w", 30, max_attempts=5, most_held=9)
    return None if lease is None else lease.id


async def test_a_hanging_job_is_put_back_after_its_last_step_and_continues_later(
    runs: RealRuns, database: stack.Database
) -> None:
    quiet, job = await runs.job(), await runs.job()
    assert (await runs.run(quiet)).status is JobStatus.SUCCEEDED
    script = Script()
    # The base model's validation and the first step are answered, and a part of the second.
    calls_of_one_step = Script()
    first_step = {"max_steps": {"steps": 1, "action": "pause"}}
    await runs.run(await runs.job(stop=first_step), calls_of_one_step)
    answered = sum(calls_of_one_step.asked.values()) + 3
    neighbour = await _another_projects_job(runs)

    put_back = await _run(runs, job, Hanging(script, answers=answered))

    assert (put_back.status, put_back.step, put_back.attempts) == (JobStatus.QUEUED, 1, 0)
    event = (await runs.events(job))[-1]
    assert (event.level, event.message[:20]) == ("warn", "Waiting on endpoint:")
    assert event.data is not None
    assert (event.data["reason"], event.data["step"]) == ("waiting_on_endpoint", 1)
    assert event.data["retry_after_s"] == 30
    _cancel_all_but(database, job, neighbour)
    assert [await _claim_next(runs), await _claim_next(runs)] == [neighbour.id, None]

    _end_wait(database, job)
    ended = await runs.run(job, script)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 2)
    assert runs.adapters(job) == runs.adapters(quiet)


async def test_a_failing_endpoint_gives_the_worker_to_the_same_projects_next_job(
    runs: RealRuns, database: stack.Database
) -> None:
    job, following = await runs.job(), await runs.job()
    _cancel_all_but(database, job, following)

    put_back = await _run(runs, job, InMemoryEgress(lambda _: down()[0]))

    assert (put_back.status, put_back.step, put_back.attempts) == (JobStatus.QUEUED, 0, 0)
    assert "other jobs wait for a worker" in (await runs.events(job))[-1].message
    assert [await _claim_next(runs), await _claim_next(runs)] == [following.id, None]


class PolledClock:
    """Its time is that of the run's polls."""

    def __init__(self) -> None:
        self.time = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        if seconds != POLL_S:
            due = asyncio.Event()
            self._sleepers.append((self.time + seconds, due))
            await due.wait()
            return
        self.time += seconds
        for _, due in (one for one in self._sleepers if one[0] <= self.time):
            due.set()
        self._sleepers = [one for one in self._sleepers if one[0] > self.time]
        await asyncio.sleep(0.001)


@dataclass
class Dead(InMemoryEgress):
    clock: PolledClock = field(default_factory=PolledClock)
    found_at: float | None = None

    @override
    async def send(self, request: EgressRequest) -> EgressReply:
        self.found_at = self.clock.now() if self.found_at is None else self.found_at
        return down()[0]


@pytest.mark.parametrize("others_wait", [True, False])
async def test_a_dead_address_gives_its_worker_back_in_time(
    runs: RealRuns,
    database: stack.Database,
    monkeypatch: pytest.MonkeyPatch,
    others_wait: bool,
) -> None:
    """Its calls begin one after another, while the engine samples: none of them begins the wait
    anew. Without another job nobody needs the worker, and the job ends with the patience.
    """
    monkeypatch.setattr(job_module, "STOP_POLL_S", POLL_S)
    job, clock = await runs.job(), PolledClock()
    neighbour = await _another_projects_job(runs) if others_wait else job
    _cancel_all_but(database, job, neighbour)
    egress, settings = Dead(Script(), clock=clock), runs.world.settings
    patient = settings.egress.model_copy(update={"call_timeout_s": 600.0, "max_retries": 3})
    settings = settings.model_copy(update={"egress": patient})
    async with runs.context(job, Script()) as context:
        with connect(database) as connection:  # it waits for no worker itself
            connection.execute(
                "UPDATE fine_tuning_jobs SET lease_until = now() + interval '1 h' WHERE id = %s",
                (job.id,),
            )
        changed = replace(context, egress=egress, clock=clock, settings=settings)
        await asyncio.wait_for(job_run(changed).run(), PATIENCE_S)
    ended = await runs.world.read(job)
    assert egress.found_at is not None
    waited_s = clock.now() - egress.found_at
    if others_wait:
        assert (ended.status, ended.step) == (JobStatus.QUEUED, 0)
        assert 110 <= waited_s < 120
        assert await _claim_next(runs) == neighbour.id
    else:
        assert (ended.status, waited_s >= 120) == (JobStatus.FAILED, True)
        assert ended.error is not None
        assert ended.error.code == "endpoint_unavailable"
        assert "grader.test/ has given no usable answer in this job" in (ended.error.message or "")


async def test_a_hanging_job_keeps_its_worker_where_no_other_project_waits(
    runs: RealRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its calls are answered after the run has asked twice whether others wait. None of them has
    failed, so they may only be slow, and the project's next job does not replace it.
    """
    job, _, asked = await runs.job(), await runs.job(), 0
    egress = Hanging(Script())
    others_come_first = ClaimableJobs.others_come_first

    async def counted(leases: ClaimableJobs, project_id: str, **limits: Any) -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            egress.released.set()
        return await others_come_first(leases, project_id, **limits)

    monkeypatch.setattr(ClaimableJobs, "others_come_first", counted)
    assert (await _run(runs, job, egress)).status is JobStatus.SUCCEEDED
    assert asked >= 2


async def test_the_wait_doubles_until_a_step_is_committed(
    runs: RealRuns, database: stack.Database
) -> None:
    job = await runs.job()
    await _another_projects_job(runs)
    for _ in range(2):
        assert (await _run(runs, job, Hanging(Script()))).status is JobStatus.QUEUED
        assert await runs.world.claim(job) is None
        _end_wait(database, job)
    waits = [
        event.data["retry_after_s"]
        for event in await runs.events(job)
        if event.data is not None and event.data.get("reason") == "waiting_on_endpoint"
    ]
    assert waits == [30, 60]


async def test_a_job_that_was_put_back_too_often_ends(
    runs: RealRuns, database: stack.Database
) -> None:
    job = await runs.job()
    await _another_projects_job(runs)
    with connect(database) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET put_backs = %s WHERE id = %s", (MOST_PUT_BACKS, job.id)
        )
    ended = await _run(runs, job, Hanging(Script()))
    assert ended.error is not None
    assert (ended.status, ended.error.code) == (JobStatus.FAILED, "endpoint_unavailable")
    assert f"queued again {MOST_PUT_BACKS} times" in str(ended.error.message)
    assert (await runs.events(job))[-1].level == "error"


async def test_a_hanging_job_with_a_requested_pause_pauses(
    runs: RealRuns, database: stack.Database
) -> None:
    job = await runs.job()
    await _another_projects_job(runs)
    running = asyncio.ensure_future(_run(runs, job, Hanging(Script())))

    async def is_running() -> bool:
        return (await runs.world.read(job)).status is JobStatus.RUNNING

    def ask() -> None:
        with connect(database) as connection:  # the test's lease has run out: the API would not ask
            connection.execute(
                "UPDATE fine_tuning_jobs SET stop_request = 'pause', status = 'pausing'"
                " WHERE id = %s",
                (job.id,),
            )

    await until(is_running)
    await asyncio.to_thread(ask)  # the run may hold the row, and lets it go in this thread
    assert (await running).status is JobStatus.PAUSED
