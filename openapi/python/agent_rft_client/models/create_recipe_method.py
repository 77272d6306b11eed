from typing import Literal

CreateRecipeMethod = Literal['dpo', 'reinforcement', 'supervised']

CREATE_RECIPE_METHOD_VALUES: set[CreateRecipeMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_create_recipe_method(value: str) -> CreateRecipeMethod:
    if value in CREATE_RECIPE_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_RECIPE_METHOD_VALUES!r}")
