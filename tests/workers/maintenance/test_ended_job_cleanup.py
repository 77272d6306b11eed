"""Rows and objects that remain of a run once its job was cancelled or failed."""

from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from app.jobs.jobs import Checkpoint, Job, JobStatus, StopRequest, Usage
from app.kit.errors import RunFailed
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.kit.objects import LocalObjects
from app.models.models import TunedModel
from app.rollouts.metrics import MetricPoint
from tests.support.runs.journals import journal_of
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.twins import InMemoryJobQueue
from workers.leased_kinds import JOBS
from workers.maintenance.expiry import expire
from workers.processes.dispatcher import sweep
from workers.runs.context import RunContext
from workers.runs.job import RunEnding
from workers.runs.publisher import adapter_prefix

PARTS = ("adapter", "state")
NOTES = ("start", "reference", "validation")


@dataclass(frozen=True, slots=True)
class EndedJobs:
    world: World
    database: Database

    async def job(self) -> Job:
        """In the middle of step 4; there is a checkpoint of step 1."""
        job = await self.world.job()
        context = await self.world.context(job)
        for step in (1, 2, 3):
            await _commit(context, step)
        for name in NOTES:
            _write(self.world.settings.objects_dir / context.job_key / name)
        _write(self.world.settings.objects_dir / context.step_key(4) / ".adapter.1.partial")
        await journal_of(context, 4).put("turn", "sha", {})
        return job

    async def cancel(self, job: Job) -> None:
        async with self.world.app.tenant(self.world.tenant) as unit:
            await unit.jobs.request_stop(job.id, StopRequest.CANCEL)

    def pass_time(self, interval: str = "11 minutes") -> None:
        self._execute(
            f"UPDATE fine_tuning_jobs SET finished_at = finished_at - interval '{interval}'"
        )

    def journal(self) -> list[str]:
        return [str(row[0]) for row in self._execute("SELECT job_id FROM journal") or ()]

    def there(self, job: Job) -> list[str]:
        root = self.root(job)
        return sorted(str(path.relative_to(root)) for path in root.glob("*/*"))

    def root(self, job: Job) -> Path:
        return self.world.settings.objects_dir / f"projects/{job.project_id}/jobs/{job.id}"

    async def expire(self) -> None:
        objects = LocalObjects(self.world.settings.objects_dir)
        below = self.world.settings.trackers_dir
        await expire(self.world.worker, objects, self.world.inference, trackers_dir=below)

    def mark(self, job: Job, column: str) -> None:
        """Marks a job as the request or the retention does that removes something of it."""
        self._execute(
            f"UPDATE fine_tuning_jobs SET {column} = now(), clean_after = now() "
            f"WHERE id = '{job.id}'"
        )

    def is_due(self, job: Job) -> bool:
        query = f"SELECT clean_after <= now() FROM fine_tuning_jobs WHERE id = '{job.id}'"
        return self._execute(query) == [(True,)]

    def _execute(self, query: str) -> list[tuple[object, ...]] | None:
        url = self.database.superuser_url.replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else None


@pytest.fixture
def ended_jobs(world: World, database: Database) -> EndedJobs:
    return EndedJobs(world, database)


def _write(directory: Path) -> None:
    directory.mkdir(parents=True)
    (directory / "file").write_text("x")


async def _commit(context: RunContext, step: int) -> None:
    key = context.step_key(step)
    for part in PARTS:
        _write(context.settings.objects_dir / key / part)
    async with context.unit() as unit:
        if step == 1:
            await unit.checkpoints.insert(
                Checkpoint(new_id("ftckpt_"), context.job.id, 1, 0, "m-1", {}),
                object_key=f"{key}/adapter",
            )
        await unit.metrics.upsert(context.job.id, [MetricPoint("reward/mean", "train", step, 0.5)])
        await unit.jobs.commit_step(
            step,
            resume_key=f"{key}/state",
            adapter_key=f"{key}/adapter",
            usage=Usage(trained_tokens=1),
            estimated_finish=0,
        )


async def test_a_cancelled_job_keeps_what_can_be_read_and_nothing_to_work_with(
    ended_jobs: EndedJobs, world: World
) -> None:
    job = await ended_jobs.job()
    everything = ended_jobs.there(job)
    await ended_jobs.cancel(job)
    await ended_jobs.expire()
    assert ended_jobs.there(job) == everything, "its run may not have noticed yet"
    assert ended_jobs.journal() == [job.id]
    ended_jobs.pass_time()
    await ended_jobs.expire()
    assert ended_jobs.there(job) == ["step-000001-f1/adapter", "step-000003-f1/adapter"]
    assert ended_jobs.journal() == []
    async with world.app.tenant(world.tenant) as unit:
        checkpoints, _ = await unit.checkpoints.page(job.id, after=None, limit=9)
        points = await unit.metrics.curve(job.id, names=None, split=None, after_step=0)
    assert ([checkpoint.step for checkpoint in checkpoints], len(points)) == ([1], 3)


async def test_a_job_whose_workers_crashed_for_good_is_cleared_alike(
    ended_jobs: EndedJobs, world: World
) -> None:
    job = await ended_jobs.job()
    await world.claim(job, lease_s=-1)
    await sweep(JOBS, world.worker, InMemoryJobQueue(), max_attempts=1)
    assert (await world.read(job)).status is JobStatus.FAILED
    ended_jobs.pass_time()
    await ended_jobs.expire()
    assert ended_jobs.there(job) == ["step-000001-f1/adapter", "step-000003-f1/adapter"]
    assert ended_jobs.journal() == []


async def test_a_run_that_fails_forgets_its_journal_at_once(
    ended_jobs: EndedJobs, world: World
) -> None:
    job = await world.job()
    context = await world.context(job)
    await journal_of(context, 1).put("turn", "sha", {})
    lease = Lease(job.id, job.project_id, context.fence)
    ending = RunEnding(world.worker, context.objects, lease)
    await ending.failed(RunFailed("no", code="x"))
    assert ended_jobs.journal() == []


async def test_what_a_job_published_stays_when_its_last_clearing_was_cut_short(
    ended_jobs: EndedJobs, world: World
) -> None:
    job = await ended_jobs.job()
    context = await world.context(job)
    key = f"projects/{job.project_id}/jobs/{job.id}/step-000002-f1/adapter"
    model = TunedModel("ft:m", job.project_id, job.id, "b", "model-1", key, 2, 0)
    async with context.unit() as unit:
        await unit.models.insert(model)
        await unit.jobs.mark_validated(3, job.method)
        await unit.jobs.mark_running()
        await unit.jobs.mark_succeeded("ft:m")
    ended_jobs.pass_time()
    await ended_jobs.expire()
    assert ended_jobs.there(job) == ["step-000001-f1/adapter", "step-000002-f1/adapter"]


async def test_jobs_that_have_not_ended_and_jobs_once_cleared_are_left_alone(
    ended_jobs: EndedJobs, world: World
) -> None:
    paused = await ended_jobs.job()
    async with world.app.tenant(world.tenant) as unit:
        await unit.jobs.request_stop(paused.id, StopRequest.PAUSE)
    everything = ended_jobs.there(paused)
    ended = await world.job()
    await world.context(ended)
    await ended_jobs.cancel(ended)
    ended_jobs.pass_time()
    await ended_jobs.expire()
    assert (ended_jobs.there(paused), ended_jobs.journal()) == (everything, [paused.id])
    _write(ended_jobs.root(ended) / "start")
    await ended_jobs.expire()
    assert ended_jobs.there(ended) == ["start/file"], "it is looked at once"


async def test_adapters_of_a_claim_that_crashed_leave_the_engine_once_it_is_there(
    ended_jobs: EndedJobs, world: World
) -> None:
    dead, living = await ended_jobs.job(), await ended_jobs.job()
    names = {job.id: f"{adapter_prefix(job.project_id, job.id)}1-s3" for job in (dead, living)}
    for name in (*names.values(), "model-of-a-caller"):
        await world.inference.load_adapter(name, Path("x"))
    await ended_jobs.cancel(dead)
    ended_jobs.pass_time()
    world.inference.unavailable = True
    await ended_jobs.expire()
    assert ended_jobs.there(dead) == ["step-000001-f1/adapter", "step-000003-f1/adapter"]
    assert ended_jobs.journal() == [living.id], "what needs no engine does not wait for it"
    world.inference.unavailable = False
    await ended_jobs.expire()
    assert set(world.inference.adapters) == {names[living.id], "model-of-a-caller"}


async def test_files_of_a_tracker_that_cannot_be_removed_delay_no_other_job(
    ended_jobs: EndedJobs, world: World
) -> None:
    broken, sound = [await ended_jobs.job() for _ in range(2)]
    files = {
        job.id: world.settings.trackers_dir / f"trackio/{job.project_id}/{job.id}/0"
        for job in (broken, sound)
    }
    for job in (broken, sound):
        await ended_jobs.cancel(job)
        (files[job.id] / "traces").mkdir(parents=True)
        (files[job.id] / "traces" / "session.jsonl").write_text("messages of a rollout")
        ended_jobs.mark(job, "rollouts_deleted_at")
    (files[broken.id] / "p.db").write_text("no database")
    ended_jobs.pass_time()
    await ended_jobs.expire()
    assert not (files[sound.id] / "traces").exists()
    assert ended_jobs.journal() == [broken.id], "the other one is clean"
    assert not ended_jobs.is_due(broken), "it is tried again later, behind others"
    (files[broken.id] / "p.db").unlink()
    ended_jobs.mark(broken, "rollouts_deleted_at")
    await ended_jobs.expire()
    assert (ended_jobs.journal(), files[broken.id].exists()) == ([], True)
