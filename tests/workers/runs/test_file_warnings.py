"""The worker that reads a job's files first reports what `validate` warns about in them."""

from tests.support.runs.real_run import QUIET, ROWS, RealRuns, TinyEngine
from tests.support.runs.world import World

ROW = {"messages": [{"role": "user", "content": "part P?"}]}


async def test_the_first_claim_reports_the_warnings_about_the_files_once(
    world: World, engine: TinyEngine
) -> None:
    runs = RealRuns(world, engine, rows=(ROW,) * ROWS)
    job = await runs.job(stop=QUIET, nothing_to_learn={"action": "off"})
    await runs.run(job)
    warned = [event.message for event in await runs.events(job) if event.level == "warn"]
    assert warned[:3] == [
        "9 rows of the training file repeat an earlier prompt.",
        "9 rows of the validation file repeat an earlier prompt.",
        warned[2],
    ]
    assert warned[2].startswith("10 rows of the validation file are in the training file too")
    assert len(warned) == len(set(warned))


async def test_a_claim_after_the_control_plane_read_the_files_does_not_repeat_them(
    world: World, engine: TinyEngine
) -> None:
    runs = RealRuns(world, engine, rows=(ROW,) * ROWS)
    job = await runs.job(stop=QUIET, nothing_to_learn={"action": "off"})
    async with world.app.tenant(world.tenant) as unit:
        await unit.jobs.mark_validated(job.id, 2, job.method)
    await runs.run(job)
    warned = [event.message for event in await runs.events(job) if event.level == "warn"]
    assert not [message for message in warned if "repeat an earlier prompt" in message]
