"""Rewards of answers by the graders of recipes."""

from typing import Any

from app.teaching.recipes.service import shipped_recipe
from tests.support.registry.trials import Trials


async def reward(trials: Trials, recipe: str, item: dict[str, Any], answer: str) -> float:
    """Returns the reward of an answer to a row, by the recipe's own grader."""
    grader = shipped_recipe(recipe).options["grader"]
    reply = await trials.run(grader, answer, item=item)
    assert not any(
        reply["metadata"]["errors"][flag] is True for flag in reply["metadata"]["errors"]
    )
    return float(reply["reward"])
