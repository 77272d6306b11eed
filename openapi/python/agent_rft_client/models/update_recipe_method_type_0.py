from typing import Literal

UpdateRecipeMethodType0 = Literal['dpo', 'reinforcement', 'supervised']

UPDATE_RECIPE_METHOD_TYPE_0_VALUES: set[UpdateRecipeMethodType0] = { 'dpo', 'reinforcement', 'supervised',  }

def check_update_recipe_method_type_0(value: str) -> UpdateRecipeMethodType0:
    if value in UPDATE_RECIPE_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPDATE_RECIPE_METHOD_TYPE_0_VALUES!r}")
