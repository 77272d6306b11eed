from typing import Literal

RecipeDetailsOwner = Literal['project', 'service']

RECIPE_DETAILS_OWNER_VALUES: set[RecipeDetailsOwner] = { 'project', 'service',  }

def check_recipe_details_owner(value: str) -> RecipeDetailsOwner:
    if value in RECIPE_DETAILS_OWNER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RECIPE_DETAILS_OWNER_VALUES!r}")
