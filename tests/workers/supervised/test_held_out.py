"""Values of held-out rows over kills."""

from math import inf, isnan, nan

import pytest

from app.kit.directories import ManifestMismatch
from tests.support.runs.world import World
from workers.methods.supervised.report import (
    RowValues,
    base_values,
    build_report,
    committed_values,
    store_values,
    weighted_means,
)
from workers.runs.method import ChosenAdapter


async def test_values_are_of_the_claim_that_committed_its_step(world: World) -> None:
    job = await world.job()
    died = await world.context(job)
    await store_values(died, 3, [RowValues(2.0, {"train/loss": 0.5})])
    lived = await world.context(job)
    assert lived.fence > died.fence
    measured = [RowValues(2.0, {"train/loss": 0.25})]
    await store_values(lived, 3, measured)
    assert await committed_values(lived, 3) == measured
    assert await committed_values(await world.context(job), 3) == measured, (
        "a later claim measures nothing anew"
    )


async def test_a_discarded_row_is_no_row(world: World) -> None:
    with pytest.raises(ManifestMismatch):
        await committed_values(await world.context(await world.job()), 3)


def published(step: int) -> ChosenAdapter:
    return ChosenAdapter(step, f"adapters/{step}", among=1)


def _rows(*losses: float) -> list[RowValues]:
    return [RowValues(2.0, {"train/loss": loss, "train/token_accuracy": 0.5}) for loss in losses]


async def test_the_report_compares_the_rows_that_are_finite_on_both_sides(world: World) -> None:
    context = await world.context(await world.job())
    await store_values(context, 0, _rows(1.0, nan, 1.0, 1.0, 1.0))
    await store_values(context, 3, _rows(0.5, 0.5, inf, 2.0, 1.0))
    found = await build_report(context, published(3), None)
    assert (found["rows"], found["rows_left_out"]) == (3, 2)
    assert (found["wins"], found["ties"], found["losses"]) == (1, 1, 1)
    assert found["regressions"] == [{"row": 3, "before": 1.0, "after": 2.0}]
    assert found["loss"]["start_mean"] == 1.0
    assert found["loss"]["tuned_mean"] == pytest.approx(3.5 / 3)
    assert "full_valid_loss" not in found, "the curve has no point either"
    assert found["full_valid_mean_token_accuracy"] == {"base": 0.5, "start": 0.5, "tuned": 0.5}
    assert found["wins_by"] == "loss"
    assert await base_values(context) is None, "the base is what training started from"


def _pair(chosen: float, rejected: float, *, reward: float = 0.0) -> RowValues:
    return RowValues(
        1.0,
        {
            "train/loss": 0.7 - reward,
            "preference/logprob_accuracy": float(chosen > rejected),
            "preference/chosen_logprob": chosen,
            "preference/rejected_logprob": rejected,
            "preference/accuracy": float(reward > 0),
            "preference/margin": reward,
            "preference/chosen_reward": -reward,
            "preference/rejected_reward": -2 * reward,
        },
    )


async def test_a_pair_is_won_by_its_order_and_not_by_a_smaller_loss(world: World) -> None:
    context = await world.context(await world.job())
    before = [_pair(-9, -5), _pair(-4, -5), _pair(-9, -5), _pair(-4, -5), _pair(-3, -6)]
    after = [
        _pair(-12, -13, reward=0.5),  # preferred now
        _pair(-8, -30, reward=0.5),  # as before, though both became less probable
        _pair(-30, -28, reward=0.1),  # not preferred, but by less
        _pair(-7, -6, reward=0.0),  # the wrong one now
        _pair(-1, -6, reward=0.5),
    ]
    await store_values(context, 0, before)
    await store_values(context, 4, after)
    found = await build_report(context, published(4), None)
    assert (found["wins"], found["ties"], found["losses"]) == (1, 3, 1), "not 4 of 5 by the loss"
    assert found["wins_by"] == "logprob_order"
    assert found["regressions"] == [{"row": 3, "before": 1.0, "after": -1.0}]
    assert found["preference_accuracy"]["base_mean"] == pytest.approx(3 / 5), "0 by the reference"
    assert found["preference_accuracy"]["tuned_mean"] == pytest.approx(3 / 5)
    assert found["chosen_logprob"]["difference"] == pytest.approx((-3 - 4 - 21 - 3 + 2) / 5)
    assert found["rejected_logprob"]["start_mean"] == pytest.approx(-26 / 5)
    assert found["chosen_less_probable"] == 4
    assert found["implicit_rewards"]["accuracy"] == pytest.approx(4 / 5)
    assert found["implicit_rewards"]["chosen"] == pytest.approx(-1.6 / 5)
    assert found["full_valid_preference_accuracy"] == {"base": 0.6, "start": 0.6, "tuned": 0.6}


async def test_a_report_without_a_finite_row_compares_nothing(world: World) -> None:
    context = await world.context(await world.job())
    await store_values(context, 0, _rows(nan, inf))
    await store_values(context, 3, _rows(1.0, 1.0))
    found = await build_report(context, published(3), None)
    assert (found["rows"], found["rows_left_out"]) == (0, 2)
    assert (found["wins"], found["ties"], found["losses"]) == (0, 0, 0)
    assert "loss" not in found


def test_a_mean_over_values_that_are_not_finite_is_nan() -> None:
    found = weighted_means(_rows(inf, -inf))
    assert isnan(found["train/loss"])
    assert found["train/token_accuracy"] == 0.5
