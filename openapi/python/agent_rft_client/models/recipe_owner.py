from typing import Literal

RecipeOwner = Literal['project', 'service']

RECIPE_OWNER_VALUES: set[RecipeOwner] = { 'project', 'service',  }

def check_recipe_owner(value: str) -> RecipeOwner:
    if value in RECIPE_OWNER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RECIPE_OWNER_VALUES!r}")
