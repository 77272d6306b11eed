"""A real job whose objects are in a bucket: it is killed, continues, and its model is served."""

from dataclasses import replace
from pathlib import Path

import pytest
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from app.jobs.jobs import JobStatus
from app.kit.errors import NotFound
from app.kit.objects import Objects, build_objects
from app.models.engine import AdapterMissing
from app.models.engine_http import HttpInference
from tests.support.objects.s3_server import S3Server
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import RealRuns, Script, TinyEngine
from tests.support.runs.world import World
from workers.maintenance.expiry import expire

PAUSE = {"max_steps": {"steps": 1, "action": "pause"}}


@pytest.fixture
def runs(world: World, engine: TinyEngine, s3: S3Server) -> RealRuns:
    """As the world is, but for a bucket in the place of the directory."""
    settings = world.settings.model_copy(update={"objects": s3.settings()})
    return RealRuns(replace(world, settings=settings), engine)


async def _parts(objects: Objects, root: str) -> set[str]:
    """The directories of steps that objects are in."""
    return {
        part.name
        for step in await objects.children(root)
        for part in await objects.children(step.key)
        if await objects.children(part.key)
    }


def _nothing_below(directory: Path) -> bool:
    return not directory.exists() or not any(directory.iterdir())


async def test_a_job_is_paused_resumed_published_and_called_from_a_bucket(
    runs: RealRuns, world: World, tmp_path: Path
) -> None:
    job = await runs.job(stop=PAUSE)
    paused = await runs.run(job)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    await runs.resume(job)
    ended = await runs.run(job)
    assert (ended.status, ended.step, ended.error) == (JobStatus.SUCCEEDED, 2, None)

    # The same job in a directory trains the same adapter to the bit, killed or not.
    local = RealRuns(world, runs.engine)
    quiet = await local.job()
    assert (await local.run(quiet)).status is JobStatus.SUCCEEDED

    objects = build_objects(runs.world.settings)
    async with world.app.tenant(world.tenant) as unit:
        model = await unit.models.get(str(ended.fine_tuned_model))
    assert model is not None
    await objects.fetch_directory(model.object_key, tmp_path / "adapter")
    weights = (tmp_path / "adapter" / "adapter_model.safetensors").read_bytes()
    assert weights == local.adapters(quiet)[model.step]

    # Nothing but adapters and the result file stays, and nothing of it on the disk.
    root = f"projects/{job.project_id}/jobs/{job.id}"
    assert await _parts(objects, root) == {"adapter"}
    assert _nothing_below(world.settings.objects_dir / root)
    assert len(ended.result_files) == 1

    await _is_served(runs, model.engine_name, model.object_key)
    _opens_in_stock_peft(runs, tmp_path / "adapter")


async def _is_served(runs: RealRuns, engine_name: str, object_key: str) -> None:
    """By an engine that has never seen it, from the cache that it shares with the caller."""
    async with runs.context(await runs.job(), Script()) as context:
        inference = HttpInference(runs.engine.url)
        body = {
            "model": engine_name,
            "max_tokens": 2,
            "messages": [{"role": "user", "content": "P"}],
        }
        with pytest.raises(AdapterMissing):
            await inference.chat(body)
        await context.adapters.load(inference, engine_name, object_key=object_key)
        assert (await inference.chat(body))["usage"]["completion_tokens"] > 0
        cached = runs.world.settings.work_dir / "adapters" / engine_name
        assert (cached / "adapter_model.safetensors").is_file()
        await inference.unload_adapter(engine_name)
        await inference.aclose()


def _opens_in_stock_peft(runs: RealRuns, directory: Path) -> None:
    base = AutoModelForCausalLM.from_pretrained(runs.engine.spec.path)
    opened = PeftModel.from_pretrained(base, str(directory)).state_dict()
    for name, weight in load_file(directory / "adapter_model.safetensors").items():
        stem = name.replace(".lora_A.", ".lora_A.default.").replace(".lora_B.", ".lora_B.default.")
        assert opened[stem].equal(weight)


async def test_a_killed_claim_and_house_keeping_leave_no_objects_behind(
    runs: RealRuns, world: World
) -> None:
    job = await runs.job()
    async with runs.context(job, Script()) as context:
        with pytest.raises(RunKilled):
            await interrupted_run(context, after_step=1).run()
    assert (await world.read(job)).step == 1
    ended = await runs.run(job)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 2)
    objects = build_objects(runs.world.settings)
    async with world.app.tenant(world.tenant) as unit:
        await unit.files.mark_deleted(job.training_file)
    await expire(world.worker, objects, world.inference)
    async with world.app.tenant(world.tenant) as unit:
        with pytest.raises(NotFound):
            await unit.files.get(job.training_file)
    assert await _parts(objects, f"projects/{job.project_id}/jobs/{job.id}") == {"adapter"}
