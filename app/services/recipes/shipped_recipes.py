"""Reads the recipes that ship with the service.

Owns their files: `data/ID.json`, and the sample curriculum `data/ID.training.jsonl` and
`data/ID.validation.jsonl`. Each file is checked by the schema when it is first read.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from app.domain.plans.recipe_options import checked_options
from app.domain.plans.recipes import ShippedRecipe

_DATA: Final = Path(__file__).with_name("data")


@cache
def shipped_ids() -> tuple[str, ...]:
    """Returns the ids of the recipes in their order."""
    return tuple(sorted(path.stem for path in _DATA.glob("*.json")))


@cache
def shipped_recipe(recipe_id: str) -> ShippedRecipe:
    rows = {split: _rows(recipe_id, split) for split in ("training", "validation")}
    text = json.loads((_DATA / f"{recipe_id}.json").read_text(encoding="utf-8"))
    recipe = ShippedRecipe.model_validate({**text, "id": recipe_id, "sample_curriculum": rows})
    checked_options(recipe)
    return recipe


def _rows(name: str, split: str) -> list[dict[str, Any]]:
    lines = (_DATA / f"{name}.{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
