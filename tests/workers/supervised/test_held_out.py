"""Values of held-out rows over kills."""

from math import inf, isnan, nan

import pytest

from tests.support.runs.world import World
from workers.learning.committed import ManifestMismatch
from workers.supervised.held_out import RowValues, keep, kept, means, report


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


async def test_a_discarded_row_is_no_row(world: World) -> None:
    with pytest.raises(ManifestMismatch):
        await kept(await world.context(await world.job()), 3)


def _rows(*losses: float) -> list[RowValues]:
    return [RowValues(2.0, {"train/loss": loss, "train/token_accuracy": 0.5}) for loss in losses]


async def test_the_report_compares_the_rows_that_are_finite_on_both_sides(world: World) -> None:
    context = await world.context(await world.job())
    await keep(context, 0, _rows(1.0, nan, 1.0, 1.0, 1.0))
    await keep(context, 3, _rows(0.5, 0.5, inf, 2.0, 1.0))
    found = await report(context, 3, None)
    assert (found["rows"], found["rows_left_out"]) == (3, 2)
    assert (found["wins"], found["ties"], found["losses"]) == (1, 1, 1)
    assert found["regressions"] == [{"row": 3, "before": 1.0, "after": 2.0}]
    assert found["loss"]["base_mean"] == 1.0
    assert found["loss"]["tuned_mean"] == pytest.approx(3.5 / 3)
    assert "full_valid_loss" not in found, "the curve has no point either"
    assert found["full_valid_mean_token_accuracy"] == {"base": 0.5, "tuned": 0.5}


async def test_a_report_without_a_finite_row_compares_nothing(world: World) -> None:
    context = await world.context(await world.job())
    await keep(context, 0, _rows(nan, inf))
    await keep(context, 3, _rows(1.0, 1.0))
    found = await report(context, 3, None)
    assert (found["rows"], found["rows_left_out"]) == (0, 2)
    assert (found["wins"], found["ties"], found["losses"]) == (0, 0, 0)
    assert "loss" not in found


def test_a_mean_over_values_that_are_not_finite_is_nan() -> None:
    found = means(_rows(inf, -inf))
    assert isnan(found["train/loss"])
    assert found["train/token_accuracy"] == 0.5
