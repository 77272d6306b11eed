import pytest

from app.domain.errors import Unavailable
from app.domain.jobs.jobs import JobStatus
from app.gateways.job_queue import InMemoryJobQueue
from app.store.database import Database
from tests.support.runs.world import World
from workers.processes.sweeper import sweep
from workers.runs.leased_jobs import JOBS


async def test_lost_notifications_and_dead_workers_are_sent_again(world: World) -> None:
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
    assert await world.messages(job) == ["The job's worker died 2 times without progress."]


async def test_no_notification_is_sent_while_the_database_is_away(world: World) -> None:
    url = world.settings.worker_database_url.replace("127.0.0.1:", "127.0.0.1:1")
    away, queue = Database(url, pool_size=1), InMemoryJobQueue()
    await world.job()
    with pytest.raises(Unavailable):
        await sweep(JOBS, away, queue, max_attempts=2)
    assert queue.runs == []
    await away.dispose()
