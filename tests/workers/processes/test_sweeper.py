import pytest
import redis

from app.database import Database
from app.jobs.jobs import JobStatus
from app.kit.errors import Unavailable
from app.kit.job_queue import RUNS_QUEUE, CeleryJobQueue
from tests.support import stack
from tests.support.api.organization import execute
from tests.support.runs.world import World
from tests.support.twins import InMemoryJobQueue
from workers.leased_kinds import JOBS
from workers.processes.dispatcher import MOST_UNREAD, sweep


async def test_lost_notifications_and_crashed_workers_are_sent_again(world: World) -> None:
    lost, dead, leased = await world.job(), await world.job(), await world.job()
    await world.claim(dead, lease_s=-1)
    await world.claim(leased, lease_s=30)
    queue = InMemoryJobQueue()
    assert await sweep(JOBS, world.worker, queue, max_attempts=5) == [lost.id, dead.id]
    assert await sweep(JOBS, world.worker, queue, max_attempts=5) == []  # both were sent just now
    assert queue.runs == [lost.id, dead.id]


async def test_a_job_that_used_up_its_attempts_fails_with_its_reason(world: World) -> None:
    job = await world.job()
    for _ in range(2):
        await world.claim(job, lease_s=-1)
    queue = InMemoryJobQueue()
    assert await sweep(JOBS, world.worker, queue, max_attempts=2) == []
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "worker_lost"
    assert await world.messages(job) == ["The job's worker crashed 2 times without progress."]


async def test_a_job_that_waits_reads_why_once(world: World, database: stack.Database) -> None:
    running, waiting, new = await world.job(), await world.job(), await world.job()
    await world.claim(running, lease_s=30)
    execute(
        database,
        "UPDATE fine_tuning_jobs SET queued_at = now() - interval '20 s' WHERE id = %s",
        waiting.id,
    )
    for most_held in (9, 9, 1):
        async with JOBS.claims(world.worker) as unit:
            await unit.leases.tell_waiting(most_held=most_held)
    assert await world.messages(waiting) == ["The job waits for a worker: 1 of 1 runs another job."]
    assert await world.messages(new) == await world.messages(running) == []
    execute(database, "UPDATE fine_tuning_jobs SET queued_at = now() - interval '20 s'")
    async with JOBS.claims(world.worker) as unit:
        await unit.leases.tell_waiting(most_held=1)
    assert await world.messages(new) == [
        "The job waits: its project runs 1 of at most 1 jobs at once."
    ]


async def test_no_notification_is_sent_while_the_database_is_unavailable(world: World) -> None:
    url = world.settings.worker_database_url.replace("127.0.0.1:", "127.0.0.1:1")
    unavailable, queue = Database(url, pool_size=1), InMemoryJobQueue()
    await world.job()
    with pytest.raises(Unavailable):
        await sweep(JOBS, unavailable, queue, max_attempts=2)
    assert queue.runs == []
    await unavailable.dispose()


async def test_many_waiting_jobs_leave_a_bounded_number_of_messages(
    world: World, database: stack.Database
) -> None:
    for _ in range(3 * MOST_UNREAD):
        await world.job()
    queue = CeleryJobQueue(database.settings.redis_url)
    unread: list[int | None] = []

    async def sweep_again() -> None:
        """Sweeps as late as all of the jobs may have a new message."""
        execute(database, "UPDATE fine_tuning_jobs SET dispatched_at = now() - interval '1 hour'")
        await sweep(JOBS, world.worker, queue, max_attempts=5)
        unread.append(await queue.unread(RUNS_QUEUE))

    for _ in range(20):
        await sweep_again()
    assert unread == [MOST_UNREAD] * 20
    with redis.Redis.from_url(database.settings.redis_url) as broker:
        assert len(broker.rpop(RUNS_QUEUE, 4)) == 4  # workers with a free slot
    await sweep_again()
    assert unread[-1] == MOST_UNREAD
    await queue.aclose()


async def test_rows_stay_due_while_the_broker_is_unavailable(world: World) -> None:
    job, queue = await world.job(), InMemoryJobQueue()
    queue.unavailable = True
    assert await sweep(JOBS, world.worker, queue, max_attempts=5) == []
    queue.unavailable = False
    assert await sweep(JOBS, world.worker, queue, max_attempts=5) == [job.id]
