"""Values of held-out rows over kills."""

import pytest

from tests.support.runs.world import World
from workers.learning.committed import ManifestMismatch
from workers.supervised.held_out import RowValues, keep, kept


async def test_values_are_of_the_claim_that_committed_its_step(world: World) -> None:
    job = await world.job()
    died = await world.context(job)
    await keep(died, 3, [RowValues(2.0, {"train/loss": 0.5})])
    lived = await world.context(job)
    assert lived.fence > died.fence
    measured = [RowValues(2.0, {"train/loss": 0.25})]
    await keep(lived, 3, measured)
    assert await kept(lived, 3) == measured
    assert await kept(await world.context(job), 3) == measured, (
        "a later claim measures nothing anew"
    )


async def test_what_nobody_kept_is_no_row(world: World) -> None:
    with pytest.raises(ManifestMismatch):
        await kept(await world.context(await world.job()), 3)
