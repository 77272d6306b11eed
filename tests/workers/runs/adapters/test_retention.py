"""Files that remain on the disk after commits, kills and ends."""

from app.jobs.jobs import Checkpoint, Usage
from app.kit.directories import commit_directory
from tests.support.objects.stored_directories import store_directory
from tests.support.runs.world import World
from workers.runs.context import RunContext
from workers.runs.publisher import Retention


def _write(context: RunContext, step: int) -> None:
    for part in ("adapter", "state"):
        store_directory(context.settings.objects_dir, f"{context.step_key(step)}/{part}")
        with commit_directory(context.step(step).path(part)):
            pass


async def _commit(context: RunContext, step: int, *, checkpoint: bool = False) -> None:
    key = context.step_key(step)
    async with context.unit() as unit:
        if checkpoint:
            await unit.checkpoints.insert(
                Checkpoint(f"ftckpt_{step}", context.job.id, step, 0, f"m-{step}", {}),
                object_key=f"{key}/adapter",
            )
        await unit.jobs.commit_step(
            step,
            resume_key=f"{key}/state",
            adapter_key=f"{key}/adapter",
            usage=Usage(trained_tokens=0),
            estimated_finish=0,
        )


def _there(context: RunContext) -> list[str]:
    root = context.settings.objects_dir / context.job_key
    return sorted(str(path.relative_to(root)) for path in root.glob("*/*"))


async def test_two_steps_and_the_adapters_of_checkpoints_stay(world: World) -> None:
    context = await world.context(await world.job())
    for step in range(1, 6):
        _write(context, step)
        await _commit(context, step, checkpoint=step == 2)
        await Retention(context).prune()
    assert _there(context) == [
        "step-000002-f1/adapter",
        "step-000004-f1/adapter",
        "step-000004-f1/state",
        "step-000005-f1/adapter",
        "step-000005-f1/state",
    ]
    assert sorted(path.name for path in context.scratch.iterdir()) == ["step-000004", "step-000005"]


async def test_a_checkpoint_that_is_dropped_later_goes_then(world: World) -> None:
    context = await world.context(await world.job())
    retention = Retention(context)
    for step in range(1, 5):
        _write(context, step)
        await _commit(context, step, checkpoint=step == 1)
        await retention.prune()
    assert "step-000001-f1/adapter" in _there(context)
    async with context.unit() as unit:
        await unit.jobs.mark_retained([])
    await retention.prune()
    assert not [path for path in _there(context) if path.startswith("step-000001")]


async def test_what_a_killed_claim_wrote_and_never_committed_goes(world: World) -> None:
    job = await world.job()
    first = await world.context(job)
    _write(first, 1)
    await _commit(first, 1)
    _write(first, 2)  # killed here, between files and commit
    partial = f"{first.step_key(3)}/.adapter.1.partial"
    (world.settings.objects_dir / partial).mkdir(parents=True)
    second = await world.context(job)
    _write(second, 2)
    await _commit(second, 2)
    _write(second, 3)  # a schedule that works ahead
    await Retention(second).prune()
    assert _there(second) == [
        "step-000001-f1/adapter",
        "step-000001-f1/state",
        "step-000002-f2/adapter",
        "step-000002-f2/state",
        "step-000003-f2/adapter",
        "step-000003-f2/state",
    ]


async def test_an_older_claim_never_touches_a_newer_ones_files(world: World) -> None:
    job = await world.job()
    old = await world.context(job)
    _write(old, 1)
    await _commit(old, 1)
    seen = await Retention(old).look_up()  # and here it is frozen
    new = await world.context(job)
    _write(new, 2)
    await _commit(new, 2)
    await Retention(old).clear(seen)
    assert _there(new) == [
        "step-000001-f1/adapter",
        "step-000002-f2/adapter",
        "step-000002-f2/state",
    ]


async def test_after_the_end_only_adapters_that_are_models_stay(world: World) -> None:
    context = await world.context(await world.job())
    for step in (1, 2, 3):
        _write(context, step)
        await _commit(context, step, checkpoint=step != 2)
    _write(context, 4)
    retention = Retention(context)
    await retention.clear(await retention.look_up())
    assert _there(context) == ["step-000001-f1/adapter", "step-000003-f1/adapter"]


async def test_a_job_that_wrote_nothing_has_nothing_to_remove(world: World) -> None:
    other = await world.context(await world.job())
    for step in (1, 2, 3):
        _write(other, step)
        await _commit(other, step)
    before = _there(other)
    assert len(before) == 6
    await Retention(await world.context(await world.job())).prune()
    assert _there(other) == before
