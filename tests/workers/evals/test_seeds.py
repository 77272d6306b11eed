"""Samples of an eval run have seeds of their own, which a sent seed decides."""

from typing import Any

import pytest

from tests.support.evals.criteria import RIGHT
from tests.support.evals.world import World, exact, rows, sampled

SAMPLES = 3


async def sampled_items(
    world: World, samples: int = SAMPLES, **sampling: Any
) -> list[dict[str, Any]]:
    source = sampled(
        rows(*[RIGHT] * 5),
        samples_per_item=samples,
        sampling_params={"temperature": 1.5, "max_completion_tokens": 24, **sampling},
    )
    path = await world.make(exact(), source=source)
    assert (await world.finish(path))["status"] == "completed"
    return await world.items(path)


@pytest.mark.parametrize("sampling", [{}, {"seed": 5}, {"seed": 2**31 - 1}])
async def test_equal_rows_are_sampled_apart(world: World, sampling: dict[str, Any]) -> None:
    items = await sampled_items(world, **sampling)
    seeds = [item["sample"]["seed"] for item in items]
    answers = {item["sample"]["output"][0]["content"] for item in items}
    assert len(set(seeds)) == len(seeds) == 5 * SAMPLES
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(answers) > SAMPLES


async def test_a_seed_gives_two_runs_the_same_samples(world: World) -> None:
    first, again, other = [await sampled_items(world, seed=seed) for seed in (5, 5, 6)]
    seeds = [[item["sample"]["seed"] for item in items] for items in (first, again, other)]
    assert seeds[0] == seeds[1]
    assert not set(seeds[0]) & set(seeds[2])
    said = [[item["sample"]["output"] for item in items] for items in (first, again)]
    assert said[0] == said[1]


async def test_the_number_of_samples_moves_no_seed(world: World) -> None:
    few, many = await sampled_items(world, 1, seed=5), await sampled_items(world, seed=5)
    firsts = [item["sample"]["seed"] for item in many if item["sample_index"] == 0]
    assert [item["sample"]["seed"] for item in few] == firsts
