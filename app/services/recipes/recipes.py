"""Reads the recipes that ship with the service.

Owns their files: `data/ID.json`, and the sample curriculum `data/ID.training.jsonl` and
`data/ID.validation.jsonl`. Each file is checked by the schema when it is first read.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from app.domain.errors import NotFound
from app.domain.faults.values import unknown_cursor
from app.domain.plans.recipes import PlanRecipe

_DATA: Final = Path(__file__).with_name("data")


class RecipeService:
    """Lists and returns recipes; they are the same for every project."""

    def page(self, *, after: str | None, limit: int) -> tuple[list[PlanRecipe], bool]:
        """Returns recipes in the order of their ids, and whether more follow. Raises
        `InvalidRequest` for an `after` that is no recipe.
        """
        if after is not None and after not in _names():
            raise unknown_cursor(after)
        names = [name for name in _names() if after is None or name > after]
        return [_recipe(name) for name in names[:limit]], len(names) > limit

    def get(self, recipe_id: str) -> PlanRecipe:
        """Raises `NotFound`, with the known recipes."""
        if recipe_id not in _names():
            known = ", ".join(_names())
            message = f"There is no recipe '{recipe_id:.80}'; there are {known}."
            raise NotFound(message, param="recipe", code="recipe_not_found")
        return _recipe(recipe_id)


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _DATA.glob("*.json")))


@cache
def _recipe(name: str) -> PlanRecipe:
    rows = {split: _rows(name, split) for split in ("training", "validation")}
    text = json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))
    return PlanRecipe.model_validate({**text, "id": name, "sample_curriculum": rows})


def _rows(name: str, split: str) -> list[dict[str, Any]]:
    lines = (_DATA / f"{name}.{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
