from typing import Literal

RecipeDetailsMethod = Literal['dpo', 'reinforcement', 'supervised']

RECIPE_DETAILS_METHOD_VALUES: set[RecipeDetailsMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_recipe_details_method(value: str) -> RecipeDetailsMethod:
    if value in RECIPE_DETAILS_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RECIPE_DETAILS_METHOD_VALUES!r}")
