"""A job's record says whether its machines keep it the same to the bit."""

from collections.abc import Iterator

import pytest
import torch

from app.jobs.results import EngineMachine
from app.models.engine import EngineUnavailable
from app.models.engine_http import HttpInference
from tests.support.runs.real_run import RealRuns, TinyEngine, tiny_engine
from tests.support.runs.world import World
from workers.compute import describe_processor, is_accelerated, run_on_compute_thread
from workers.runs import opening as reproducibility
from workers.runs.opening import record_reproducibility

pytestmark = pytest.mark.usefixtures("no_hub")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyEngine]:
    with tiny_engine(tmp_path_factory.mktemp("tiny")) as running:
        yield running


async def test_a_run_records_what_its_engine_found_on_this_machine(
    world: World, engine: TinyEngine
) -> None:
    # An earlier test of the process may have left another number; it belongs to a thread.
    await run_on_compute_thread(torch.set_num_threads, 1)
    runs = RealRuns(world, engine)
    job = await runs.job()
    assert job.reproducibility is None
    ended = await runs.run(job)
    client = HttpInference(engine.url)
    found = await client.machine(engine.spec.name)
    await client.aclose()
    assert found is not None
    way = f"{describe_processor()}, onednn products, 1 thread"
    assert found.processor == way
    assert ended.reproducibility is not None
    assert ended.reproducibility["processors"] == [f"trainer: {way}", f"engine: {way}"]
    kept = found.batch_invariant and not is_accelerated()
    assert ended.reproducibility["same_to_the_bit"] is kept
    assert bool(ended.reproducibility["reasons"]) is not kept


async def test_a_claim_on_another_processor_takes_the_promise_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproducibility, "is_accelerated", lambda: False)
    job = await world.job()
    await record_reproducibility(await world.context(job))
    first = (await world.read(job)).reproducibility
    assert first is not None
    assert (first["same_to_the_bit"], first["reasons"]) == (True, [])
    world.inference.machine_of_engine = EngineMachine("another", batch_invariant=True)
    await record_reproducibility(await world.context(job))
    second = (await world.read(job)).reproducibility
    assert second is not None
    assert second["reasons"] == [
        "The job's claims ran on different processors, or with other products or threads."
    ]
    assert second["processors"] == [*first["processors"], "engine: another"]


async def test_an_engine_that_reports_nothing_or_is_unavailable_promises_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproducibility, "is_accelerated", lambda: False)
    for unavailable in (False, True):
        job = await world.job()
        context = await world.context(job)
        world.inference.unavailable, world.inference.machine_of_engine = unavailable, None
        if unavailable:
            with pytest.raises(EngineUnavailable):
                await context.inference.machine(context.base_model.name)
        await record_reproducibility(context)
        noted = (await world.read(job)).reproducibility
        assert noted is not None
        assert (
            "The engine does not say whether its results depend on the batch." in noted["reasons"]
        )
