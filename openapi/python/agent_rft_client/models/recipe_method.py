from typing import Literal

RecipeMethod = Literal['dpo', 'reinforcement', 'supervised']

RECIPE_METHOD_VALUES: set[RecipeMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_recipe_method(value: str) -> RecipeMethod:
    if value in RECIPE_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RECIPE_METHOD_VALUES!r}")
