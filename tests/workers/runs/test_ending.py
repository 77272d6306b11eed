"""Ends besides success, and the retry of a run that met a fault of ours."""

import pytest

from app.domain.errors import LeaseLost, RunFailed
from app.domain.jobs import Job, JobStatus
from app.gateways.inference import EngineAway
from tests.workers.runs.conftest import World
from workers.runs.context import RunContext
from workers.runs.ending import Ending


def _ending(context: RunContext, job: Job) -> Ending:
    return Ending(context.database, project_id=job.project_id, job_id=job.id, fence=context.fence)


async def test_a_fault_of_ours_is_tried_again_and_in_the_end_says_its_reason(world: World) -> None:
    job = await world.job()
    fault = EngineAway("The engine is away.")
    assert not await _ending(await world.context(job), job).exhausted(fault, max_attempts=2)
    assert (await world.read(job)).status is JobStatus.VALIDATING_FILES
    assert await _ending(await world.context(job), job).exhausted(fault, max_attempts=2)
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == (
        "internal_error",
        "The run met an internal error 2 times without progress: The engine is away.",
    )


async def test_the_text_of_an_unknown_fault_stays_with_us(world: World) -> None:
    job = await world.job()
    fault = KeyError("/secret/path of this machine")
    assert await _ending(await world.context(job), job).exhausted(fault, max_attempts=1)
    assert (await world.messages(job)) == [
        "The run met an internal error 1 times without progress: KeyError"
    ]


async def test_an_overtaken_claim_ends_nothing(world: World) -> None:
    job = await world.job()
    old = await world.context(job)
    await world.context(job)
    with pytest.raises(LeaseLost):
        await _ending(old, job).failed(RunFailed("no", code="x"))
    assert (await world.read(job)).status is JobStatus.VALIDATING_FILES
