from app.domain.jobs.jobs import JobStatus
from app.gateways.job_queue import InMemoryJobQueue
from tests.support.runs.world import World
from workers.runs.sweeper import sweep


async def test_lost_wake_ups_and_dead_workers_are_sent_again(world: World) -> None:
    lost, dead, held = await world.job(), await world.job(), await world.job()
    await world.claim(dead, lease_s=-1)
    await world.claim(held, lease_s=30)
    queue = InMemoryJobQueue()
    assert await sweep(world.worker, queue, max_attempts=5) == [lost.id, dead.id]
    assert await sweep(world.worker, queue, max_attempts=5) == []  # both were woken just now
    assert queue.runs == [lost.id, dead.id]


async def test_a_job_that_used_up_its_attempts_fails_with_its_reason(world: World) -> None:
    job = await world.job()
    for _ in range(2):
        await world.claim(job, lease_s=-1)
    queue = InMemoryJobQueue()
    assert await sweep(world.worker, queue, max_attempts=2) == []
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "worker_lost"
    assert await world.messages(job) == ["The job's worker died 2 times without progress."]
